"""One pass of the NACHA codec over a file of many entries, in a process of its own without Django.

`python -m benchmarks.ach_codec write|read|judge|collect FILE ENTRIES` prints CPU seconds and the
most memory that the process had. `collect` reads into a list, which is what a stream is not: a
measurement that sees nothing there sees nothing at all.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from datetime import date
from datetime import time as time_of_day
from pathlib import Path

from networks.ach.nacha.reader import read
from networks.ach.nacha.records import BatchHeader, Entry, EntryDetail, FileHeader
from networks.ach.nacha.summary import summarize
from networks.ach.nacha.validator.judge import Validator
from networks.ach.nacha.writer import write

_ODFI = "09100001"
_IN_A_BATCH = 100_000
_HEADER = FileHeader(
    immediate_destination="091000019",
    immediate_origin="1234567890",
    file_creation_date=date(2026, 11, 20),
    file_creation_time=time_of_day(10, 15),
    file_id_modifier="A",
    immediate_destination_name="FIRST BANK",
    immediate_origin_name="BALLAST",
    reference_code="",
)


def write_file(path: Path, count: int) -> int:
    """Entries written, by the totals of the file."""
    with path.open("wb") as sink:
        batches = (
            (_batch(first // _IN_A_BATCH + 1), _entries(first, min(_IN_A_BATCH, count - first)))
            for first in range(0, count, _IN_A_BATCH)
        )
        return write(sink, _HEADER, batches).entry_addenda_count


def _batch(number: int) -> BatchHeader:
    return BatchHeader(
        service_class_code=225,
        company_name="BALLAST",
        company_discretionary_data="",
        company_identification="1234567890",
        standard_entry_class_code="CCD",
        company_entry_description="TOPUP",
        company_descriptive_date="",
        effective_entry_date=date(2026, 11, 23),
        settlement_date=None,
        originator_status_code="1",
        originating_dfi_identification=_ODFI,
        batch_number=number,
    )


def _entries(first: int, count: int) -> Iterator[Entry]:
    for number in range(first + 1, first + count + 1):
        yield Entry(
            EntryDetail(
                transaction_code=27,
                receiving_dfi_identification="09000051",
                check_digit="5",
                dfi_account_number=f"744-5678-{number % 10_000}",
                amount=number % 100_000 + 1,
                individual_identification_number=f"ID{number}",
                individual_name="ACME CORPORATION",
                discretionary_data="",
                addenda_record_indicator=0,
                trace_number=f"{_ODFI}{number:07d}",
            )
        )


def _read(path: Path, _count: int) -> int:
    with path.open("rb") as source:
        summary = summarize(read(source))
    return summary.entries if summary.ok else 0


def _judge(path: Path, _count: int) -> int:
    with path.open("rb") as source:
        judge = Validator(source)
        return 0 if list(judge) else judge.entries


def _collect(path: Path, _count: int) -> int:
    with path.open("rb") as source:
        return len(list(read(source)))


_PASSES = {"write": write_file, "read": _read, "judge": _judge, "collect": _collect}


def peak_mib() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise OSError("the system does not tell how much memory a process had")


def main() -> None:
    what, path, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    began = time.process_time()
    done = _PASSES[what](path, count)
    seconds = time.process_time() - began
    found = {"entries": done, "cpu_seconds": seconds, "peak_mib": peak_mib()}
    sys.stdout.write(json.dumps({**found, "django": "django" in sys.modules}) + "\n")


if __name__ == "__main__":
    main()
