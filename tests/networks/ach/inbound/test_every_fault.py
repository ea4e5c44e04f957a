"""Each single fault of a file, through the whole way in: stored, read by a worker, and what is left
afterwards.

The file returns two entries, each in a batch of its own. One thing is wrong in it, mostly in the
first batch. The names are those of what an operator refuses (Nacha Operating Rules, Appendix Two).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

import pytest
from structlog.testing import capture_logs

from networks.ach.inbound import deciding, matching
from networks.ach.models import InRecord
from tests.networks.ach.inbound.builders import (
    CAME,
    NOW,
    answer_batch,
    answer_file,
    make_batch,
    make_entry,
    returned,
    take,
    told,
)
from tests.networks.ach.nacha import raw

pytestmark = pytest.mark.django_db
NOTHING_MOVED = [("settled", ""), ("final", "")]
CAME_BACK = [("returned", "R01")]
# The lines of the file: 1 its header; 2 to 5 a batch (header, entry, addenda, control); 6 to 9
# another one; 10 the control of the file.
Lines = list[str]


class Left(Enum):
    """What there is afterwards: whether the file waits for a person, and what became of the return
    at line 3 and of that at line 7."""

    NOTHING = ("review", None, None)
    THE_OTHER_BATCH = ("review", None, "applied")
    A_QUESTION = ("applied", "review", "applied")
    ALL = ("applied", "applied", "applied")


def at(line: int, position: int, text: str) -> Callable[[Lines, Lines], Lines]:
    """Other characters in the file that was finished."""
    return lambda one, other: raw.changed(_file(one, other), line, position, text)


def entry_with(position: int, text: str) -> Callable[[Lines, Lines], Lines]:
    """Other characters in the first return, and sums that fit them."""
    return lambda one, other: _file(raw.changed(one, 1, position, text), other)


def addenda_with(position: int, text: str) -> Callable[[Lines, Lines], Lines]:
    return lambda one, other: _file(raw.changed(one, 2, position, text), other)


def header_with(**fields) -> Callable[[Lines, Lines], Lines]:
    """A first batch with another header, and the control that fits it."""
    return lambda one, other: _file(one, other, **fields)


def as_lines(change: Callable[[Lines], Lines]) -> Callable[[Lines, Lines], Lines]:
    return lambda one, other: change(_file(one, other))


def _file(one: Lines, other: Lines, **header) -> Lines:
    batches = answer_batch(*one, **header), answer_batch(*other, number="0000002")
    lines: Lines = answer_file(*batches)
    return lines


def _without(*numbers: int) -> Callable[[Lines], Lines]:
    return lambda lines: [line for place, line in enumerate(lines, 1) if place not in numbers]


FORWARD = raw.entry(trace="090000519999999", rdfi="09100001", check="9")

CASES = {
    # The whole file
    "no file header": (as_lines(_without(1)), Left.NOTHING, (1, "file_header_missing")),
    "two file headers": (
        as_lines(lambda lines: [lines[0], *lines]),
        Left.NOTHING,
        (2, "file_header_repeated"),
    ),
    "no file control": (as_lines(_without(10)), Left.NOTHING, (9, "file_control_missing")),
    "record type": (at(3, 1, "4"), Left.NOTHING, (3, "record_type_unknown")),
    "priority": (at(1, 2, "02"), Left.NOTHING, (1, "priority_code_invalid")),
    "creation date, 30 February": (
        at(1, 24, "260230"),
        Left.NOTHING,
        (1, "file_creation_date_invalid"),
    ),
    "creation time": (at(1, 30, "2460"), Left.NOTHING, (1, "file_creation_time_invalid")),
    "modifier": (at(1, 34, "-"), Left.NOTHING, (1, "file_id_modifier_invalid")),
    "record size": (at(1, 35, "095"), Left.NOTHING, (1, "record_size_invalid")),
    "blocking factor": (at(1, 38, "11"), Left.NOTHING, (1, "blocking_factor_invalid")),
    "format": (at(1, 40, "2"), Left.NOTHING, (1, "format_code_invalid")),
    "batch count": (at(10, 2, "000003"), Left.NOTHING, (10, "batch_count_wrong")),
    "block count": (at(10, 8, "000002"), Left.NOTHING, (10, "block_count_wrong")),
    "count of the file": (
        at(10, 14, "00000005"),
        Left.NOTHING,
        (10, "file_entry_addenda_count_wrong"),
    ),
    "hash of the file": (at(10, 22, "0000000001"), Left.NOTHING, (10, "file_entry_hash_wrong")),
    "debit of the file": (at(10, 32, "000000030001"), Left.NOTHING, (10, "file_total_debit_wrong")),
    "credit of the file": (
        at(10, 44, "000000000001"),
        Left.NOTHING,
        (10, "file_total_credit_wrong"),
    ),
    "entry outside of a batch": (
        as_lines(lambda lines: [lines[0], lines[2], *lines[1:]]),
        Left.NOTHING,
        (2, "record_order"),
    ),
    "addenda before its entry": (
        as_lines(lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]]),
        Left.NOTHING,
        (3, "record_order"),
    ),
    "something behind the file": (
        as_lines(lambda lines: [*lines, lines[2]]),
        Left.NOTHING,
        (11, "record_after_file_control"),
    ),
    "fill before the file control": (
        as_lines(lambda lines: [*lines[:9], raw.NINES, lines[9]]),
        Left.NOTHING,
        (10, "record_order"),
    ),
    "short record": (
        as_lines(lambda lines: [*lines[:2], lines[2][:90], *lines[3:]]),
        Left.NOTHING,
        (3, "record_short"),
    ),
    "long record": (
        as_lines(lambda lines: [*lines[:2], lines[2] + "7", *lines[3:]]),
        Left.NOTHING,
        (3, "record_long"),
    ),
    # A batch
    "no batch control": (as_lines(_without(5)), Left.THE_OTHER_BATCH, (5, "batch_control_missing")),
    "count of the batch": (
        at(5, 5, "000003"),
        Left.THE_OTHER_BATCH,
        (5, "batch_entry_addenda_count_wrong"),
    ),
    "hash of the batch": (at(5, 20, "3"), Left.THE_OTHER_BATCH, (5, "batch_entry_hash_wrong")),
    "debit of the batch": (at(5, 32, "1"), Left.THE_OTHER_BATCH, (5, "batch_total_debit_wrong")),
    "credit of the batch": (at(5, 44, "1"), Left.THE_OTHER_BATCH, (5, "batch_total_credit_wrong")),
    "service class": (
        header_with(service_class="210"),
        Left.THE_OTHER_BATCH,
        (2, "service_class_code_unknown"),
    ),
    "service class of the control": (
        at(5, 2, "220"),
        Left.THE_OTHER_BATCH,
        (5, "service_class_code_differs"),
    ),
    "debit among credits": (
        header_with(service_class="220"),
        Left.THE_OTHER_BATCH,
        (3, "service_class_code_wrong"),
    ),
    "company of the control": (
        at(5, 45, "9"),
        Left.THE_OTHER_BATCH,
        (5, "company_identification_differs"),
    ),
    "bank of the control": (
        at(5, 87, "2"),
        Left.THE_OTHER_BATCH,
        (5, "originating_dfi_identification_differs"),
    ),
    "batch number of the control": (
        at(5, 94, "9"),
        Left.THE_OTHER_BATCH,
        (5, "batch_number_differs"),
    ),
    "batch number": (
        header_with(number="000000X"),
        Left.THE_OTHER_BATCH,
        (2, "batch_number_invalid"),
    ),
    "sending bank": (
        header_with(odfi="0900005X"),
        Left.THE_OTHER_BATCH,
        (2, "originating_dfi_identification_invalid"),
    ),
    "entry class": (
        header_with(sec="XYZ"),
        Left.THE_OTHER_BATCH,
        (2, "standard_entry_class_code_unknown"),
    ),
    "IAT": (header_with(sec="IAT"), Left.THE_OTHER_BATCH, (2, "international_not_supported")),
    "ADV": (header_with(sec="ADV"), Left.THE_OTHER_BATCH, (2, "adv_not_supported")),
    "settlement day 367": (
        header_with(settlement="367"),
        Left.THE_OTHER_BATCH,
        (2, "settlement_date_invalid"),
    ),
    "forward entry among returns": (
        lambda one, other: _file([*one, FORWARD], other),
        Left.THE_OTHER_BATCH,
        (5, "forward_and_return_mixed"),
    ),
    "transaction code": (
        entry_with(2, "17"),
        Left.A_QUESTION,
        (3, "transaction_code_unknown"),
    ),
    "effective date, 30 February": (
        header_with(effective="260230"),
        Left.THE_OTHER_BATCH,
        (2, "effective_entry_date_invalid"),
    ),
    # One return
    "character": (at(3, 57, "\x07"), Left.A_QUESTION, (3, "characters")),
    "NUL": (at(3, 57, "\0"), Left.A_QUESTION, (3, "characters")),
    "no ASCII": (at(3, 57, "\xe9"), Left.A_QUESTION, (3, "characters")),
    "trace of another bank": (
        entry_with(80, "09000060"),
        Left.THE_OTHER_BATCH,
        (3, "trace_number_prefix_wrong"),
    ),
    "check digit": (entry_with(12, "0"), Left.A_QUESTION, (3, "check_digit_wrong")),
    "amount": (at(3, 39, "X"), Left.A_QUESTION, (3, "amount_invalid")),
    "addenda indicator": (at(3, 79, "X"), Left.A_QUESTION, (3, "addenda_record_indicator_invalid")),
    "routing number": (at(3, 4, "X"), Left.A_QUESTION, (3, "receiving_dfi_identification_invalid")),
    "trace number": (at(3, 94, "X"), Left.A_QUESTION, (3, "trace_number_invalid")),
    "character in the addenda": (at(4, 40, "\xe9"), Left.A_QUESTION, (4, "characters")),
    "addenda missing": (
        lambda one, other: _file(one[:1], other),
        Left.A_QUESTION,
        (3, "addenda_missing"),
    ),
    "addenda not announced": (
        entry_with(79, "0"),
        Left.A_QUESTION,
        (3, "addenda_unexpected"),
    ),
    "addenda type": (addenda_with(2, "97"), Left.A_QUESTION, (4, "addenda_type_unknown")),
    "addenda of another entry": (
        addenda_with(94, "9"),
        Left.A_QUESTION,
        (4, "addenda_trace_wrong"),
    ),
    "two addenda": (
        lambda one, other: _file([*one, one[1]], other),
        Left.A_QUESTION,
        (5, "addenda_too_many"),
    ),
    "original trace": (
        addenda_with(7, " " * 15),
        Left.A_QUESTION,
        (4, "original_entry_trace_number_invalid"),
    ),
    "return code in lower case": (
        addenda_with(4, "r01"),
        Left.A_QUESTION,
        (4, "return_reason_code_invalid"),
    ),
    "date of death, 30 February": (
        addenda_with(22, "260230"),
        Left.A_QUESTION,
        (4, "date_of_death_invalid"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_left(rail, name):
    change, left, fault = CASES[name]
    bad, good = make_entry(make_batch(rail), 1), make_entry(make_batch(rail), 2)
    lines = change(returned(bad), returned(good))

    with capture_logs() as logged:
        file = take(raw.content(lines))

    status, one, other = left.value
    assert fault in [(each["line"], each["code"]) for each in file.faults]
    assert (file.status, file.next_attempt_at) == (status, None)
    rows = InRecord.objects.filter(file=file).order_by("line")
    assert [row.status for row in rows] == [each for each in (one, other) if each]
    assert told(bad) == (CAME_BACK if one == "applied" else NOTHING_MOVED)
    assert told(good) == (CAME_BACK if other == "applied" else NOTHING_MOVED)
    if one == "review":
        assert rows[0].note.startswith("faults: ")
        assert rows[0].due_on is not None
        assert rows[0].due_on > CAME
    assert [each for each in logged if "exc_info" in each or each["log_level"] == "error"] == []


class TestAnEntryThatCannotBeRead:
    """It is no entry to the codec, and must be lost to nobody."""

    def lines(self, *pairs):
        return answer_file(answer_batch(*(line for pair in pairs for line in pair)))

    def test_is_kept_as_it_came_with_what_its_addenda_say(self, entry):
        lines = raw.changed(self.lines(returned(entry)), 3, 60, "\0")

        record = InRecord.objects.get(file=take(raw.content(lines)))

        assert (record.kind, record.status, record.code) == ("return", "review", "R01")
        assert (record.original_trace, record.amount) == (entry.trace_number, entry.amount)
        assert (record.line, record.rdfi_trace) == (3, "")
        assert matching.raw(record).split("\n") == lines[2:4]

    def test_is_decided_by_a_person(self, entry):
        lines = raw.changed(self.lines(returned(entry)), 3, 30, "X")
        record = InRecord.objects.get(file=take(raw.content(lines)))

        deciding.return_entry(
            record_id=record.pk, entry_id=entry.pk, staff="anna", why="the bank said so", now=NOW
        )

        assert told(entry) == CAME_BACK

    def test_holds_up_no_other_wherever_it_stands(self, batch):
        entries = [make_entry(batch, number) for number in range(1, 6)]
        lines = self.lines(*map(returned, entries))
        for line in (3, 5, 11):  # two of them one after the other, and the last one
            lines = raw.changed(lines, line, 30, "XY")

        file = take(raw.content(lines))

        rows = InRecord.objects.filter(file=file).order_by("line").values_list("line", "status")
        assert list(rows) == [
            (3, "review"),
            (5, "review"),
            (7, "applied"),
            (9, "applied"),
            (11, "review"),
        ]
        assert [told(entry) == CAME_BACK for entry in entries] == [False, False, True, True, False]

    def test_may_come_again_and_then_rightly(self, entry):
        right = self.lines(returned(entry))
        take(raw.content(raw.changed(right, 3, 60, "\0")))

        file = take(raw.content(right), name="again.ach")

        assert InRecord.objects.get(file=file).status == "applied"
        assert told(entry) == CAME_BACK

    def test_without_an_addenda_record_is_something_else(self, entry):
        first, _ = returned(entry)
        lines = raw.changed(self.lines([first]), 3, 30, "X")

        record = InRecord.objects.get(file=take(raw.content(lines)))

        assert (record.kind, record.status) == ("other", "review")
        assert told(entry) == NOTHING_MOVED

    def test_is_left_out_with_its_batch(self, entry):
        lines = raw.changed(self.lines(returned(entry)), 3, 30, "X")

        file = take(raw.content(raw.changed(lines, 5, 94, "9")))

        assert file.status == "review"
        assert not InRecord.objects.exists()
