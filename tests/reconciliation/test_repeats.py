"""What a bank posts twice explains nothing else, and waits for people."""

from __future__ import annotations

from typing import Any

import pytest

from balance.operator.accounts import Step
from networks.ach import references
from networks.ach.models import InRecord
from reconciliation import booking, by_hand, closing, repeats
from reconciliation.errors import CloseRefused, MatchRefused
from reconciliation.matching import running
from reconciliation.models import ExpectedLine, Match, MatchedLine, Rule, StatementLine
from tests.networks.ach.inbound import builders
from tests.networks.ach.inbound.builders import RAIL
from tests.reconciliation.banking import Posted, matched, state
from tests.reconciliation.statements import MONDAY, NOW, OPENING, TUESDAY
from tests.reconciliation.test_rules import name_also
from tests.reconciliation.transfers import batch_of, book, expected_of, settled

pytestmark = pytest.mark.django_db

NUMBER = 4711  # the bank's


@pytest.fixture
def batch(rail, account):
    return batch_of(rail)


@pytest.fixture
def name(batch):
    return references.of_batch(batch)


def run():
    return running.run(RAIL, now=NOW)


def places(*lines):
    """Where these lines are in their files."""
    rows = StatementLine.objects.in_bulk(lines)
    return [rows[line].position for line in lines]


class TestABatchThatIsNamedTwice:
    def test_does_not_pass_for_another_one_of_its_file(self, batch, name, acme):
        settled(acme, batch, 3_000)
        settled(acme, batch_of(batch.file.rail, number=2, file=batch.file), 3_000)
        state(Posted(3_000, name), Posted(3_000, name))

        assert run() == {}

    def test_nor_in_the_next_statement(self, batch, name, acme):
        (entry,) = settled(acme, batch, 3_000)
        other = batch_of(batch.file.rail, number=2, file=batch.file)
        (of_other,) = settled(acme, other, 3_000, day=TUESDAY)
        first, *_ = state(Posted(3_000, name))
        again, *_ = state(Posted(3_000, name), day=TUESDAY, opening=OPENING + 3_000)

        assert run() == {Rule.FILE: 1}
        assert MatchedLine.objects.get(match=expected_of(entry).match).line_id == first
        assert expected_of(of_other).match is None
        place, at = places(again, first)
        assert repeats.sentences([again]) == [
            f"Line {place} of November 17, 2026 looks like line {at} of November 16, 2026 again."
        ]


class TestALineWithTheNumberOfAnotherOne:
    def test_is_no_other_total_of_its_day(self, rail, batch, acme):
        settled(acme, batch, 3_000)
        settled(acme, batch_of(rail), 3_000)
        state(Posted(3_000, number=NUMBER), Posted(3_000, number=NUMBER))

        assert run() == {}

    def test_nor_of_the_next_one(self, rail, batch, acme):
        settled(acme, batch, 3_000)
        settled(acme, batch_of(rail), 3_000, day=TUESDAY)
        state(Posted(3_000, number=NUMBER))
        state(Posted(3_000, number=NUMBER), day=TUESDAY, opening=OPENING + 3_000)

        assert run() == {Rule.BATCH: 1}
        assert Match.objects.get().day == MONDAY
        assert closing.close(RAIL, now=NOW).day == MONDAY
        with pytest.raises(CloseRefused, match=r"looks like line .* of November 16, 2026 again"):
            closing.close(RAIL, now=NOW)

    def test_is_not_even_booked_to_suspense(self, account):
        state(Posted(77, "THEIRS", "credit", NUMBER), Posted(77, "THEIRS", "credit", NUMBER))

        assert run() == {Rule.BOOKED: 1}
        assert run() == {}

    def test_is_booked_if_it_is_a_fee(self, account):
        state(Posted(-50, kind="fee", number=NUMBER), Posted(-50, kind="fee", number=NUMBER))

        assert run() == {Rule.BOOKED: 2}

    def test_is_another_line_if_its_amount_is_another_one(self, account):
        state(Posted(77, kind="credit", number=NUMBER), Posted(-77, kind="fee", number=NUMBER))

        assert run() == {Rule.BOOKED: 2}

    def test_is_another_line_after_a_week(self, account):
        state(Posted(77, kind="credit", number=NUMBER))
        days = [date for date in range(17, 25) if date not in (21, 22)]
        for day in days[:-1]:
            state(day=MONDAY.replace(day=day), opening=OPENING + 77)
        state(
            Posted(77, kind="credit", number=NUMBER),
            day=MONDAY.replace(day=days[-1]),
            opening=OPENING + 77,
        )

        assert run() == {Rule.BOOKED: 2}


class TestALineThatNamesTwoTransfers:
    def test_is_none_of_them_though_one_is_matched(self, batch, acme):
        first, second = settled(acme, batch, 3_000, 3_000)
        state(Posted(3_000, first.trace_number))
        (line,) = state(Posted(3_000, second.trace_number), day=TUESDAY, opening=OPENING + 3_000)
        name_also(line, first.trace_number)

        assert run() == {Rule.END_TO_END: 1}
        assert expected_of(second).match is None

    def test_is_one_of_them_if_it_names_that_one_twice(self, batch, acme):
        (entry,) = settled(acme, batch, 3_000)
        (line,) = state(Posted(3_000, entry.trace_number))
        name_also(line, entry.reference)

        assert run() == {Rule.END_TO_END: 1}

    def test_is_a_return_if_it_names_that_and_its_transfer(self, batch, name, acme):
        (entry,) = settled(acme, batch, 3_000)
        builders.take(builders.answer_file(builders.answer_batch(*builders.returned(entry))))
        book(acme, entry, Step.IN_RETURNED, day=MONDAY)
        trace = InRecord.objects.get(entry=entry).rdfi_trace
        _, line = state(Posted(3_000, name), Posted(-3_000, trace, "return"))
        name_also(line, entry.trace_number)

        assert run() == {Rule.FILE: 1, Rule.RETURNS: 1}

    def test_is_not_of_another_file_than_it_quotes(self, rail, batch, acme):
        settled(acme, batch, 3_000)
        (entry,) = settled(acme, batch_of(rail), 3_000, day=TUESDAY)
        name = references.of_batch(batch)
        state(Posted(3_000, name))
        (line,) = state(Posted(3_000, name), day=TUESDAY, opening=OPENING + 3_000)
        name_also(line, entry.trace_number)

        assert run() == {Rule.FILE: 1}
        assert expected_of(entry).match is None

    def test_is_of_the_file_that_it_quotes(self, batch, acme):
        entry, _ = settled(acme, batch, 3_000, 2_000)
        (line,) = state(Posted(3_000, references.of_batch(batch)))
        name_also(line, entry.trace_number)

        assert run() == {Rule.END_TO_END: 1}


class TestOnePerson:
    @pytest.fixture
    def again(self, batch, name, acme):
        """A batch that the bank posts on Monday and again on Tuesday, when another one settles."""
        settled(acme, batch, 3_000)
        settled(acme, batch_of(batch.file.rail, number=2, file=batch.file), 3_000, day=TUESDAY)
        state(Posted(3_000, name))
        (line,) = state(Posted(3_000, name), day=TUESDAY, opening=OPENING + 3_000)
        run()
        return line

    def test_cannot_match_what_is_matched_already_with_something_else(self, again):
        books = ExpectedLine.objects.filter(match=None).values_list("line", flat=True)

        with pytest.raises(MatchRefused, match=r"looks like line .* two people say what it was"):
            by_hand.match(
                [again], books, rail=RAIL, day=TUESDAY, reason="It is that", by="ann", now=NOW
            )

        assert matched() == [("file", [3_000], [3_000])]

    def test_can_book_it_to_suspense(self, again):
        line = StatementLine.objects.get(pk=again)

        booking.to_suspense(line, by="ann", reason="Posted twice", now=NOW)

        assert [closing.close(RAIL, now=NOW).day for _ in range(2)] == [MONDAY, TUESDAY]

    def test_can_match_one_of_two_that_look_alike(self, rail, batch, acme):
        settled(acme, batch, 3_000)
        settled(acme, batch_of(rail), 3_000)
        lines = state(Posted(3_000, number=NUMBER), Posted(3_000, number=NUMBER))
        run()
        one, other = ExpectedLine.objects.values_list("line", flat=True)
        given: dict[str, Any] = {
            "rail": RAIL,
            "day": MONDAY,
            "reason": "The first",
            "by": "ann",
            "now": NOW,
        }

        by_hand.match(lines[:1], [one], **given)

        with pytest.raises(MatchRefused, match="looks like"):
            by_hand.match(lines[1:], [other], **given)
