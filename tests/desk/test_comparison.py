"""A file beside what the bank says that it has of it: differences are marked."""

from __future__ import annotations

import html
import json

import pytest

from networks.ach.models import InFile, OutFile
from networks.ach.models.inbound import InFolder
from tests.corruption import tamper
from tests.networks.ach.inbound.builders import make_batch, make_entry, make_rail, take


@pytest.fixture
def file(db):
    """A file of two batches that was sent: debits of 150.00 and 90.00."""
    rail = make_rail()
    batch = make_batch(rail, debit_total=150_00)
    make_entry(batch, status="sent", accepted_at=None, settled=None)
    second = make_batch(rail, number=2, file=batch.file, debit_total=90_00)
    make_entry(second, 2, status="sent", accepted_at=None, settled=None, amount=60_00)
    make_entry(second, 3, status="sent", accepted_at=None, settled=None, amount=30_00)
    tamper("UPDATE ach_outfile SET debit_total = 24000")
    return OutFile.objects.get()


def say(file, verdict, *, debit, batches=(), entries=()):
    """The bank's acknowledgment of a file, which is read."""
    lines = [
        {
            "type": "file",
            "file": file.remote_name,
            "sha256": file.sha256,
            "verdict": verdict,
            "reasons": [],
            "accepted": {"entries": 0, "debit": debit, "credit": 0},
        }
    ]
    for number in batches:
        reasons = [{"line": 2, "code": "hash_wrong", "detail": "<b>the hash differs</b>"}]
        lines.append(
            {"type": "batch", "batch": f"{number:07}", "verdict": "rejected", "reasons": reasons}
        )
    for trace in entries:
        lines.append({"type": "entry", "trace": trace, "status": "rejected", "code": "R13"})
    lines.append({"type": "end", "lines": len(lines) + 1})
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    return take(data, name="a.ack", folder=InFolder.ACK)


def page(desk, file):
    return desk.get(f"/admin/desk/files/{file.pk}/").content.decode()


def rows(content):
    """The labels of what differs."""
    parts = content.split("<tr>")
    return {
        part.split('row">')[1].split("<")[0].replace("&#x27;", "'")
        for part in parts
        if "Differs" in part and 'row">' in part
    }


def test_of_what_was_taken_whole_differs_in_nothing(desk, file):
    say(file, "accepted", debit=240_00)

    content = page(desk, file)

    assert "The bank&#x27;s answer" in content or "The bank's answer" in content
    assert rows(content) == set()


def test_leaves_out_what_was_refused(desk, file):
    trace = file.batches.get(batch_number=2).entries.order_by("pk").first().trace_number
    say(file, "part_rejected", debit=30_00, batches=[1], entries=[trace])

    content = page(desk, file)

    assert rows(content) == set()
    assert f"Entry {trace}: R13" in content
    assert "&lt;b&gt;the hash differs" in content


def test_marks_another_total(desk, file):
    say(file, "accepted", debit=239_99)

    content = html.unescape(page(desk, file))

    assert rows(content) == {"Debits accepted"}
    assert "$239.99" in content


def test_says_when_it_cannot_be_read(desk, file):
    say(file, "accepted", debit=240_00)
    InFile.objects.get().chunks.update(content_token="damaged")

    assert "It cannot be read." in page(desk, file)
