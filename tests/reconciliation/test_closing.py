"""Days that close at a difference of zero, and days that do not."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, transaction

from common import audits
from common.audits import Scope
from reconciliation import closing, day_rules, due, expecting, figures, suspense_rules
from reconciliation.errors import CloseRefused
from reconciliation.figures import Sums
from reconciliation.models import ClosedDay, ExpectedLine, Match
from tests.database import owner
from tests.networks.ach.inbound.builders import RAIL
from tests.reconciliation.books import book, match_all, note
from tests.reconciliation.statements import (
    FRIDAY,
    MONDAY,
    NEXT_MONDAY,
    NOW,
    OPENING,
    THURSDAY,
    TUESDAY,
    WEDNESDAY,
    bai2_of,
    take,
)

pytestmark = pytest.mark.django_db


def close():
    return closing.close(RAIL, now=NOW)


def found():
    """What the audit finds about closed days."""
    return list(day_rules.check(Scope(full=True)))


def refused():
    """Why the next day does not close."""
    with pytest.raises(CloseRefused) as refusal:
        close()
    return refusal.value.reasons


class TestADay:
    def test_closes_when_the_bank_shows_what_the_books_say(self, acme, account):
        book(acme, MONDAY, 5_000, -1_200)
        take(bai2_of(MONDAY, 5_000, -1_200))
        match_all(MONDAY)

        day = close()

        assert (day.day, day.ledger, day.bank) == (MONDAY, OPENING + 3_800, OPENING + 3_800)
        assert (day.in_transit, day.in_transit_lines) == (0, 0)
        assert (day.matches, day.expected_lines, day.follows) == (2, 2, None)

    def test_without_lines_closes_as_well(self, account):
        take(bai2_of(MONDAY))

        assert close().ledger == OPENING

    def test_closes_with_what_is_in_transit_by_name(self, acme, account):
        (line,) = book(acme, MONDAY, 5_000)
        take(bai2_of(MONDAY))

        day = close()

        assert (day.ledger, day.bank, day.in_transit) == (OPENING + 5_000, OPENING, 5_000)
        assert list(day.lines_in_transit.values_list("line", "amount")) == [(line, 5_000)]
        assert found() == []

    def test_closes_where_the_bank_was_first(self, acme, account):
        """The bank shows on Monday what the books count on Tuesday."""
        (line,) = book(acme, TUESDAY, 5_000)
        take(bai2_of(MONDAY, 5_000))
        match_all(MONDAY)

        day = close()

        assert (day.ledger, day.bank, day.in_transit) == (OPENING, OPENING + 5_000, -5_000)
        assert list(day.lines_in_transit.values_list("line", "amount")) == [(line, -5_000)]
        take(bai2_of(TUESDAY, opening=OPENING + 5_000))
        assert close().in_transit == 0
        assert found() == []

    def test_closes_where_the_match_is_of_a_later_statement(self, acme, account):
        book(acme, MONDAY, 5_000)
        take(bai2_of(MONDAY))
        take(bai2_of(TUESDAY, 5_000))
        match_all(TUESDAY)

        assert [close().in_transit, close().in_transit] == [5_000, 0]
        assert found() == []

    def test_follows_the_one_before(self, acme, account):
        take(bai2_of(MONDAY))
        take(bai2_of(TUESDAY))
        first, second = close(), close()

        assert (second.day, second.follows) == (TUESDAY, first)

    def test_says_who_closed_it(self, account):
        take(bai2_of(MONDAY))

        assert closing.close(RAIL, now=NOW, by="ann").closed_by == "ann"


class TestADayStaysOpen:
    def test_without_an_account(self, rail):
        assert "no settlement account" in refused()[0]

    def test_without_a_statement(self, account):
        assert refused() == (
            "There is no statement of the account ··"
            f"{account.last4} after November 15, 2026 yet: ask the bank for it, or upload it.",
        )

    def test_while_a_line_of_the_bank_is_unmatched(self, acme, account):
        book(acme, MONDAY, 5_000)
        take(bai2_of(MONDAY, 5_000, -200))

        assert refused() == (
            "Nothing explains 2 lines of the bank up to November 16, 2026 ($50.00 in, $2.00 out):"
            " match each by hand, or book it to suspense.",
        )
        assert not ClosedDay.objects.exists()

    def test_while_a_line_is_long_in_transit(self, acme, account):
        (line,) = book(acme, MONDAY, -5_000)
        for day in (MONDAY, TUESDAY, WEDNESDAY, THURSDAY):
            take(bai2_of(day))
        assert [close().day for _ in range(3)] == [MONDAY, TUESDAY, WEDNESDAY]

        (reason,) = refused()

        assert f"line {line}, money out, settled, -$50.00, November 16, 2026" in reason

    def test_not_once_a_person_says_why(self, acme, account):
        (line,) = book(acme, MONDAY, -5_000)
        for day in (MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY):
            take(bai2_of(day))
        note(line, until=THURSDAY)

        assert [close().day for _ in range(4)] == [MONDAY, TUESDAY, WEDNESDAY, THURSDAY]
        assert "no statement shows 1 line" in refused()[0]

    def test_with_all_reasons_at_once(self, acme, account):
        book(acme, MONDAY, -5_000)
        for day in (MONDAY, TUESDAY, WEDNESDAY):
            take(bai2_of(day))
            close()
        take(bai2_of(THURSDAY, 1))

        assert len(refused()) == 2

    def test_while_the_one_before_is_open(self, acme, account):
        take(bai2_of(MONDAY, 1))
        take(bai2_of(TUESDAY, opening=OPENING + 1))

        assert "November 16" in refused()[0]


def test_the_full_check_looks_at_what_is_no_tenants():
    assert {day_rules.check, suspense_rules.check} <= {*audits.wholes()}


class TestAfterTheEnd:
    def test_a_late_line_counts_on_the_next_day(self, acme, account):
        take(bai2_of(MONDAY))
        close()
        (line,) = book(acme, MONDAY, 700)
        expecting.take(RAIL, now=NOW)
        take(bai2_of(TUESDAY, 700))
        match_all(TUESDAY)

        assert ExpectedLine.objects.get(line=line).counts_on == TUESDAY
        assert (close().ledger, ClosedDay.objects.get(day=MONDAY).ledger) == (
            OPENING + 700,
            OPENING,
        )

    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE reconciliation_closedday SET closed_by = 'x'",
            "DELETE FROM reconciliation_closedday",
            "UPDATE reconciliation_intransit SET amount = 1",
            "DELETE FROM reconciliation_intransit",
            "UPDATE reconciliation_match SET voided_at = now(), voided_by = 'x', voided_why = 'x'",
            "UPDATE reconciliation_matchedline SET match_id = NULL",
            "INSERT INTO reconciliation_matchedline SELECT line.id, match.id"
            " FROM reconciliation_statementline AS line, reconciliation_match AS match"
            " WHERE NOT EXISTS (SELECT FROM reconciliation_matchedline WHERE line_id = line.id)",
            "UPDATE reconciliation_expectedline SET match_id = NULL",
            "UPDATE reconciliation_expectedline SET match_id = (SELECT id FROM"
            " reconciliation_match) WHERE match_id IS NULL",
            "INSERT INTO reconciliation_match (id, rail_id, rule, day, amount, statement_lines,"
            " expected_lines, made_at, made_by, reason, voided_by, voided_why)"
            " SELECT 'mat_2', rail_id, rule, day, amount, statement_lines, expected_lines, made_at,"
            " '', '', '', '' FROM reconciliation_match",
            "INSERT INTO reconciliation_expectedline (line, rail_id, step, amount, counts_on, file,"
            " trace, reference, taken_at) SELECT line + 10000, rail_id, step, amount, counts_on,"
            " '', '', '', taken_at FROM reconciliation_expectedline",
        ],
    )
    def test_nothing_of_the_day_is_touched(self, acme, account, statement):
        book(acme, MONDAY, 5_000, 300)
        take(bai2_of(MONDAY, 5_000))
        match_all(MONDAY)
        close()
        take(bai2_of(TUESDAY, 300, opening=OPENING + 5_000))

        refusal = pytest.raises(DatabaseError, match=r"is closed|Cannot (update|delete)")
        with refusal, transaction.atomic(), owner.as_owner(), connection.cursor() as cursor:
            cursor.execute(statement)
        assert Match.objects.get().voided_at is None


class TestFigures:
    def test_are_the_same_before_and_after_the_day_closes(self, acme, account):
        book(acme, MONDAY, 10)
        take(bai2_of(MONDAY))
        close()
        book(acme, TUESDAY, 5_000, -70)
        book(acme, WEDNESDAY, 900)
        take(bai2_of(TUESDAY, 900))
        expecting.take(RAIL, now=NOW)
        match_all(TUESDAY)
        before = figures.of(account, TUESDAY)
        close()
        after = figures.of(account, TUESDAY)

        assert before.closed is None
        assert before.in_transit == {
            0: Sums(2, 5_000, 70),
            1: Sums(1, 10, 0),
            2: Sums(),
            3: Sums(),
        }
        assert (before.ahead, before.difference) == (Sums(1, 900, 0), 0)
        assert after.closed is not None
        for name in ("ledger", "bank", "in_transit", "ahead", "unmatched", "difference"):
            assert getattr(after, name) == getattr(before, name), name

    def test_say_what_nothing_explains(self, acme, account):
        take(bai2_of(MONDAY, 500, -200))

        found = figures.of(account, MONDAY)

        assert (found.unmatched, found.difference) == (Sums(2, 500, 200), -300)
        assert found.unreconciled == 700

    def test_of_a_day_without_a_statement_have_no_difference(self, acme, account):
        book(acme, MONDAY, 5_000)
        expecting.take(RAIL, now=NOW)

        found = figures.of(account, MONDAY)

        assert (found.ledger, found.bank, found.difference) == (OPENING + 5_000, None, None)

    @pytest.mark.parametrize(
        ("counts_on", "day", "age"),
        [
            (MONDAY, MONDAY, 0),
            (MONDAY, TUESDAY, 1),
            (FRIDAY, NEXT_MONDAY, 1),
            (FRIDAY + timedelta(days=1), NEXT_MONDAY, 1),
            (THURSDAY, NEXT_MONDAY, 2),
            (WEDNESDAY, NEXT_MONDAY, 3),
            (MONDAY, NEXT_MONDAY, 3),
        ],
    )
    def test_count_banking_days(self, counts_on, day, age):
        assert figures.age(counts_on, day) == age

    def test_call_a_line_overdue_after_two_banking_days(self):
        assert figures.long_ago(NEXT_MONDAY) == WEDNESDAY
        assert figures.long_ago(THURSDAY) == MONDAY


class TestLateDays:
    def test_begin_some_hours_into_the_next_banking_day(self, account):
        deadline = due.deadline(FRIDAY)

        assert deadline.isoformat() == "2026-11-23T17:30:00+00:00"
        late = due.late_days(account, now=deadline)
        assert late == [MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY]
        assert due.late_days(account, now=deadline - timedelta(seconds=1)) == late[:-1]

    def test_are_those_after_the_last_closed_one(self, account):
        take(bai2_of(MONDAY))
        close()

        assert due.late_days(account, now=due.deadline(TUESDAY)) == [TUESDAY]


class TestCloseAll:
    def test_closes_what_can_be_closed(self, acme, account):
        take(bai2_of(MONDAY))
        take(bai2_of(TUESDAY, 5))
        take(bai2_of(WEDNESDAY, opening=OPENING + 5))

        (outcome,) = closing.close_due(now=NOW)

        assert [each.day for each in outcome.closed] == [MONDAY]
        assert (outcome.rail, outcome.open_day) == (RAIL, TUESDAY)
        assert "November 17" in outcome.reasons[0]

    def test_says_nothing_while_the_next_day_has_time(self, account):
        take(bai2_of(MONDAY))

        (outcome,) = closing.close_due(now=due.deadline(MONDAY))

        assert (outcome.open_day, outcome.reasons) == (None, ())

    def test_names_the_day_whose_statement_is_missing(self, account):
        (outcome,) = closing.close_due(now=due.deadline(MONDAY))

        assert outcome.open_day == MONDAY
        assert "ask the bank" in outcome.reasons[0]
