"""What a bank quotes of our files: the one place that says how a file and a batch are called.

A file is called by what its header says and no other file of ours has: the day and the minute of
its creation and its modifier. A batch is called by its file and its number there. A bank that is
told so quotes them on its statements.
"""

from __future__ import annotations

from networks.ach.models import AchBatch, OutFile

# In SQL, of the tables `ach_outfile AS file` and `ach_achbatch AS batch`.
FILE = "to_char(file.file_date + file.file_time, 'YYMMDDHH24MI') || file.modifier"
BATCH = f"{FILE} || '-' || lpad(batch.batch_number::text, 7, '0')"


def of_file(file: OutFile) -> str:
    """Such as `2611281345A`."""
    return f"{file.file_date:%y%m%d}{file.file_time:%H%M}{file.modifier}"


def of_batch(batch: AchBatch) -> str:
    """Such as `2611281345A-0000001`."""
    return f"{of_file(batch.file)}-{batch.batch_number:07d}"
