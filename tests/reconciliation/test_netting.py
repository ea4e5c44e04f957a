"""What moves nothing at the bank keeps no day open."""

from __future__ import annotations

import pytest

from balance.operator.accounts import Step
from common.audits import Scope
from networks.ach import references
from reconciliation import booking, by_hand, closing, day_rules, match_rules
from reconciliation.errors import BookingRefused, CloseRefused, MatchRefused
from reconciliation.matching import running
from reconciliation.models import BookedLine, ClosedDay, Match, MatchedLine, StatementLine
from tests.networks.ach.inbound.builders import RAIL
from tests.reconciliation.banking import Posted, matched, state
from tests.reconciliation.statements import (
    FRIDAY,
    MONDAY,
    NOW,
    OPENING,
    THURSDAY,
    TUESDAY,
    WEDNESDAY,
    bai2_of,
    of_kinds,
    take,
)
from tests.reconciliation.transfers import batch_of, book, settled

pytestmark = pytest.mark.django_db


def run():
    return running.run(RAIL, now=NOW)


def pass_by(*days, opening=OPENING):
    """Let days pass on which the bank shows nothing; gives those that closed."""
    for day in days:
        state(day=day, opening=opening)
    run()
    return [each.day for each in closing.close_all(RAIL, now=NOW).closed]


def sound():
    whole = Scope(full=True)
    return [*day_rules.check(whole), *match_rules.check(whole)] == []


@pytest.fixture
def batch(rail, account):
    return batch_of(rail)


class TestASumOfZero:
    def test_of_a_batch_is_settled_once_it_is_overdue(self, batch, acme):
        settled(acme, batch, 700, -300, -400)

        assert pass_by(MONDAY, TUESDAY, WEDNESDAY) == [MONDAY, TUESDAY, WEDNESDAY]
        assert not Match.objects.exists()
        assert pass_by(THURSDAY) == [THURSDAY]

        made = Match.objects.get()
        assert (made.rule, made.day, made.amount, made.made_by) == ("netted", THURSDAY, 0, "")
        assert (made.statement_lines, made.expected_lines) == (0, 3)
        assert ClosedDay.objects.latest("day").in_transit_lines == 0
        assert sound()

    def test_of_a_file_on_a_day(self, batch, acme):
        settled(acme, batch, 700)
        settled(acme, batch_of(batch.file.rail, number=2, file=batch.file), -700)

        pass_by(MONDAY, TUESDAY, WEDNESDAY, THURSDAY)

        assert matched() == [("netted", [], [-700, 700])]

    def test_of_the_returns_of_a_day(self, batch, acme):
        money_in, money_out = settled(acme, batch, 700, -700)
        state(Posted(700, money_in.trace_number), Posted(-700, money_out.trace_number))
        book(acme, money_in, Step.IN_RETURNED, day=TUESDAY)
        book(acme, money_out, Step.OUT_RETURNED, day=TUESDAY)

        pass_by(TUESDAY, WEDNESDAY, THURSDAY, FRIDAY)

        assert matched()[2:] == [("netted", [], [-700, 700])]
        assert sound()

    def test_that_the_bank_shows_one_by_one_is_matched_with_that(self, batch, acme):
        settled(acme, batch, 700, -700)
        name = references.of_batch(batch)
        state(Posted(700, name), Posted(-700, name))

        pass_by(TUESDAY, WEDNESDAY, THURSDAY)

        assert matched() == [("file", [-700, 700], [-700, 700])]

    def test_of_what_is_left_of_a_batch_is_none_of_its_own(self, batch, acme):
        """Two errors do not hide each other: a part of the batch was shown."""
        one, _, _ = settled(acme, batch, 100, 700, -700)
        state(Posted(100, one.trace_number))
        state(day=TUESDAY, opening=OPENING + 100)
        state(day=WEDNESDAY, opening=OPENING + 100)

        pass_by(THURSDAY, opening=OPENING + 100)

        assert [match.rule for match in Match.objects.all()] == ["end_to_end"]
        with pytest.raises(CloseRefused, match="no statement shows 2 lines"):
            closing.close(RAIL, now=NOW)

    def test_over_two_files_is_no_sum(self, rail, batch, acme):
        """No one sum of a bank has both: one of them may be lost, and so may the other one."""
        settled(acme, batch, 700)
        settled(acme, batch_of(rail), -700)

        assert pass_by(MONDAY, TUESDAY, WEDNESDAY, THURSDAY) == [MONDAY, TUESDAY, WEDNESDAY]
        assert not Match.objects.exists()

    def test_that_the_bank_shows_after_all_goes_to_suspense(self, batch, acme):
        settled(acme, batch, 700, -700)
        pass_by(MONDAY, TUESDAY, WEDNESDAY, THURSDAY)
        name = references.of_batch(batch)
        state(Posted(700, name), Posted(-700, name), day=FRIDAY)
        assert run() == {}

        for line in StatementLine.objects.filter(matched=None):
            booking.to_suspense(line, by="ann", reason="Shown after all", now=NOW)

        assert closing.close(RAIL, now=NOW).day == FRIDAY

    def test_is_not_taken_apart(self, batch, acme):
        settled(acme, batch, 700, -700)
        for day in (MONDAY, TUESDAY, WEDNESDAY, THURSDAY):
            state(day=day)
        run()

        with pytest.raises(MatchRefused, match="No line of the bank"):
            by_hand.unmatch(Match.objects.get().pk, reason="x", by="ann", now=NOW)


class TestALineOfNothing:
    @pytest.mark.parametrize("kind", ["batch", "credit", "fee", "return", "unknown"])
    def test_keeps_no_day_open_and_is_not_booked(self, account, kind):
        take(of_kinds(MONDAY, (kind, 0)))
        run()

        assert StatementLine.objects.get().amount == 0
        assert closing.close(RAIL, now=NOW).bank == OPENING
        assert not BookedLine.objects.exists()
        assert not MatchedLine.objects.exists()
        assert sound()

    @pytest.mark.parametrize(
        ("credits_", "debits", "status"),
        [
            (1, 0, "applied"),
            (2, 0, "applied"),
            (1, 1, "applied"),
            (0, 1, "review"),
            (3, 0, "review"),
        ],
    )
    def test_may_be_counted_by_the_bank_as_either_or_not_at_all(
        self, account, credits_, debits, status
    ):
        said = bai2_of(MONDAY, 5, 0).decode()
        counted = said.replace("100,5,1,,400,0,0,", f"100,5,{credits_},,400,0,{debits},")

        assert take(counted.encode()).status == status

    @pytest.mark.parametrize("is_named", [True, False], ids=["named", "silent"])
    def test_explains_nothing_though_lines_of_the_books_cancel(self, batch, acme, is_named):
        settled(acme, batch, 700, -700)
        state(Posted(0, references.of_batch(batch) if is_named else ""))

        assert run() == {}
        assert closing.close(RAIL, now=NOW).in_transit_lines == 2

    def test_is_refused_by_a_person_who_wants_to_book_it(self, account):
        take(of_kinds(MONDAY, ("credit", 0)))

        with pytest.raises(BookingRefused, match="moves no money"):
            booking.to_suspense(StatementLine.objects.get(), by="ann", reason="x", now=NOW)
