from __future__ import annotations

import json
import tracemalloc
from contextlib import suppress
from datetime import date
from io import BytesIO
from itertools import chain, islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from networks.ach.acknowledgments import (
    Acknowledgment,
    Extent,
    Reason,
    Unreadable,
    Verdict,
    jsonl,
)

SHA256 = "ab" * 32
TRACE = "124000310000007"
FILE = {
    "type": "file",
    "file": "a.ach",
    "sha256": SHA256,
    "verdict": "part_rejected",
    "reasons": [],
    "batches": 2,
    "debit": 30_000,
    "credit": 0,
    "accepted": {"entries": 1, "debit": 10_000, "credit": 0},
}
REASON = {"line": 2, "code": "company_unknown", "detail": "no such company"}
BATCH = {"type": "batch", "batch": "0000002", "verdict": "rejected", "reasons": [REASON]}
ENTRY = {
    "type": "entry",
    "batch": "0000001",
    "trace": TRACE,
    "status": "rejected",
    "code": "R13",
    "warning": "",
}


def end(count):
    return {"type": "end", "lines": count}


def content(*lines):
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def extent_of(sha256):
    return {SHA256: Extent(batches=4, entries=3)}.get(sha256)


def read(*lines):
    return jsonl.read(BytesIO(content(*lines)), extent_of)


def refusal(data):
    with pytest.raises(Unreadable) as refused:
        jsonl.read(BytesIO(data), extent_of)
    return refused.value.line, refused.value.code


class TestAnAcknowledgment:
    def test_names_what_was_rejected(self):
        assert read(FILE, BATCH, ENTRY, end(4)) == Acknowledgment(
            name="a.ach",
            sha256=SHA256,
            verdict=Verdict.PART_REJECTED,
            rejected_batches={2: (Reason(2, "company_unknown", "no such company"),)},
            rejected_entries={TRACE: "R13"},
            debit=10_000,
        )

    def test_leaves_out_what_was_accepted_or_is_held(self):
        accepted = BATCH | {"verdict": "accepted", "reasons": []}
        held = ENTRY | {"status": "held", "code": "", "warning": "reversal_too_late"}

        found = read(FILE | {"verdict": "accepted"}, accepted, held, end(4))

        assert found.verdict is Verdict.ACCEPTED
        assert (found.rejected_batches, found.rejected_entries) == ({}, {})
        assert found.warnings == {TRACE: "reversal_too_late"}

    def test_says_when_batches_settle_that_settle_together(self):
        evening = "2026-12-02T02:30:00+00:00"  # the banks' day is the one before
        together = {"verdict": "accepted", "batch": "1", "settles_at": [evening]}
        apart = {"batch": "3", "settles_at": [evening, "2026-12-02T13:30:00+00:00"]}
        silent = {"batch": "4", "settles_at": []}

        said = read(FILE, *({**BATCH, **together, **each} for each in ({}, apart, silent)), end(5))

        assert said.settles == {1: date(2026, 12, 1)}

    @pytest.mark.parametrize("settles_at", ["2026-12-02", [5], ["soon"], ["2026-12-02T13:30:00"]])
    def test_names_no_day_that_cannot_be_read(self, settles_at):
        batch = {**BATCH, "verdict": "accepted", "settles_at": settles_at}

        assert refusal(content(FILE, batch, end(3))) == (2, "ack_settles_at_invalid")

    def test_of_a_file_that_the_bank_has_already_is_a_repeat(self):
        again = {"line": 1, "code": "duplicate_file", "detail": "this file was taken before"}

        found = read(FILE | {"verdict": "rejected", "reasons": [again]}, end(2))

        assert found.is_repeat
        assert not read(FILE, end(2)).is_repeat

    def test_needs_no_end_of_its_last_line(self):
        assert jsonl.read(BytesIO(content(FILE, end(2)).strip()), extent_of).sha256 == SHA256


class TestWhatCannotBeUsed:
    @pytest.mark.parametrize(
        ("lines", "fault"),
        [
            ([], (1, "ack_incomplete")),
            ([FILE], (2, "ack_incomplete")),
            ([FILE, BATCH], (3, "ack_incomplete")),
            ([FILE, end(3)], (2, "ack_incomplete")),
            ([end(1)], (1, "ack_order")),
            ([BATCH, end(2)], (1, "ack_order")),
            ([FILE, FILE, end(3)], (2, "ack_order")),
            ([FILE, end(2), BATCH], (3, "ack_order")),
            ([FILE, {"type": "remark"}, end(3)], (2, "ack_type_unknown")),
            ([FILE, {"type": ["batch"]}, end(3)], (2, "ack_type_unknown")),
            ([FILE, {}, end(3)], (2, "ack_type_unknown")),
            ([FILE | {"sha256": "12"}, end(2)], (1, "ack_sha256_invalid")),
            ([FILE | {"sha256": "cd" * 32}, end(2)], (1, "ack_file_unknown")),
            ([FILE | {"file": 7}, end(2)], (1, "ack_file_invalid")),
            ([FILE | {"file": "a" * 301}, end(2)], (1, "ack_file_invalid")),
            ([FILE | {"file": "a\0b"}, end(2)], (1, "ack_file_invalid")),
            ([FILE | {"verdict": "perhaps"}, end(2)], (1, "ack_verdict_invalid")),
            ([FILE | {"verdict": None}, end(2)], (1, "ack_verdict_invalid")),
            ([FILE | {"reasons": "none"}, end(2)], (1, "ack_reasons_invalid")),
            ([FILE | {"reasons": ["none"]}, end(2)], (1, "ack_reasons_invalid")),
            ([FILE | {"accepted": 5}, end(2)], (1, "ack_accepted_invalid")),
            ([FILE | {"accepted": {"debit": -1, "credit": 0}}, end(2)], (1, "ack_debit_invalid")),
            ([FILE | {"accepted": {"debit": True}}, end(2)], (1, "ack_debit_invalid")),
            ([FILE, BATCH | {"batch": "B"}, end(3)], (2, "ack_batch_invalid")),
            ([FILE, BATCH | {"batch": "²"}, end(3)], (2, "ack_batch_invalid")),
            ([FILE, ENTRY | {"trace": "12"}, end(3)], (2, "ack_trace_invalid")),
            ([FILE, ENTRY | {"code": "R13\n"}, end(3)], (2, "ack_code_invalid")),
            ([FILE, ENTRY | {"code": ""}, end(3)], (2, "ack_code_invalid")),
        ],
    )
    def test_is_named_with_its_line(self, lines, fault):
        assert refusal(content(*lines)) == fault

    @pytest.mark.parametrize(
        ("data", "fault"),
        [
            (b"\xff\xfe\n", (1, "ack_not_json")),
            (b"[]\n", (1, "ack_not_json")),
            (b"[" * 100_000, (1, "ack_not_json")),
            (b"0" * 3_000_000, (1, "ack_line_long")),
            (content(FILE, end(2))[:-20], (2, "ack_not_json")),
        ],
    )
    def test_is_no_json_line(self, data, fault):
        assert refusal(data) == fault

    @given(st.binary(max_size=300))
    def test_raises_nothing_else(self, data):
        for beginning in (b"", content(FILE)):
            with suppress(Unreadable):
                jsonl.read(BytesIO(beginning + data), extent_of)


class Long:
    """An acknowledgment of `count` lines behind the first one, each made when it is read."""

    def __init__(self, line_of, count):
        lines = (line_of(number) for number in range(count))
        self._pieces = chain([FILE], lines, [end(count + 2)])

    def read(self, size):
        return b"".join(content(each) for each in islice(self._pieces, 50))


def rejected(number):
    return ENTRY | {"trace": f"{number:015d}"}


def remarked(number):
    return rejected(number) | {"status": "held", "warning": f"{number} ".ljust(250, ".")}


def refused(number):
    reasons = [REASON | {"detail": f"{number} {place} ".ljust(80, ".")} for place in range(30)]
    return BATCH | {"batch": f"{number:07d}", "reasons": reasons}


class TestMemory:
    """What is kept grows with the file that we sent, whatever the bank says of it."""

    COUNT = 20_000

    def peak(self, line_of, extent, count=COUNT):
        """The result, and the most bytes that were in use."""
        found: Any
        tracemalloc.start()
        try:
            found = jsonl.read(Long(line_of, count), lambda _sha256: extent)
        except Unreadable as refused:
            found = refused
        finally:
            _, most = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        return found, most

    def test_refuses_more_entries_than_the_file_has(self):
        found, most = self.peak(rejected, Extent(batches=1, entries=100))

        assert (found.line, found.code) == (102, "ack_entry_unknown")
        assert most < 500_000

    def test_refuses_more_batches_than_the_file_has(self):
        found, most = self.peak(refused, Extent(batches=100, entries=100))

        assert (found.line, found.code) == (102, "ack_batch_unknown")
        assert most < 3_000_000

    def test_holds_an_entry_in_few_bytes(self):
        found, most = self.peak(rejected, Extent(batches=1, entries=self.COUNT))

        assert len(found.rejected_entries) == self.COUNT
        assert most < 200 * self.COUNT

    def test_keeps_the_first_remarks(self):
        found, most = self.peak(remarked, Extent(batches=1, entries=self.COUNT))

        assert list(found.warnings) == [f"{number:015d}" for number in range(500)]
        assert most < 1_000_000

    def test_keeps_the_first_reasons_of_a_batch(self):
        found, most = self.peak(refused, Extent(batches=1_000, entries=1), count=1_000)

        assert {len(reasons) for reasons in found.rejected_batches.values()} == {10}
        assert most < 6_000 * 1_000
