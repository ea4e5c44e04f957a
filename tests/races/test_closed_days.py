"""Days that close while others close, take, match, post, or put an account in force anew."""

from __future__ import annotations

from functools import partial

import pytest

from balance import services as ledger
from balance.operator.accounts import Step
from balance.operator.posting import Booking
from common.audits import Scope
from reconciliation import booking, clearing, closing, day_rules, expecting, matching
from reconciliation.errors import AccountRefused, ClearingRefused, CloseRefused, MatchRefused
from reconciliation.models import (
    BookedLine,
    ClearingKind,
    ClosedDay,
    ExpectedLine,
    Match,
    Rule,
    StatementLine,
)
from tests.builders import make_tenant
from tests.networks.ach.inbound.builders import RAIL, make_rail
from tests.races.together import rounds, together
from tests.reconciliation.books import balances, book
from tests.reconciliation.statements import (
    MONDAY,
    NOW,
    OPENING,
    TUESDAY,
    bai2_of,
    in_force,
    of_kinds,
    take,
)

WORKERS = 6
race = partial(together, workers=WORKERS)
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _account():
    make_rail()
    in_force()


def close():
    return closing.close(RAIL, now=NOW).day


def sound():
    return list(day_rules.check(Scope(full=True))) == []


@rounds(4)
def test_a_day_closes_once(round_):
    take(bai2_of(MONDAY))

    outcomes = race(lambda _: close())

    assert [each for each in outcomes if not isinstance(each, CloseRefused)] == [MONDAY]
    assert ClosedDay.objects.count() == 1


@rounds(4)
def test_days_close_in_their_order(round_):
    take(bai2_of(MONDAY))
    take(bai2_of(TUESDAY))

    race(lambda _: close())

    first, second = ClosedDay.objects.order_by("day")
    assert (first.day, second.day, second.follows) == (MONDAY, TUESDAY, first)


@rounds(6)
def test_what_is_posted_and_taken_meanwhile_counts_once_and_on_an_open_day(round_):
    tenant = make_tenant()
    take(bai2_of(MONDAY))

    def act(worker):
        if worker == 0:
            return close()
        step = Booking(
            Step.IN_SETTLED, 100, RAIL, "funding_transaction", f"ftx_{worker}", tenant.pk, MONDAY
        )
        ledger.book([step], now=NOW)
        return expecting.take(RAIL, now=NOW)

    race(act)
    expecting.take(RAIL, now=NOW)

    day = ClosedDay.objects.get()
    counted = ExpectedLine.objects.filter(counts_on=MONDAY).count()
    assert ExpectedLine.objects.count() == WORKERS - 1
    assert day.ledger == OPENING + 100 * counted
    assert day.in_transit_lines == day.expected_lines == counted
    assert sound()
    take(bai2_of(TUESDAY))
    assert close() == TUESDAY
    assert ClosedDay.objects.get(day=TUESDAY).ledger == OPENING + 100 * (WORKERS - 1)


@rounds(6)
def test_a_line_is_matched_before_the_day_closes_or_not_at_all(round_):
    """The books count it on Monday, and Tuesday's statement shows it; or Monday's."""
    tenant = make_tenant()
    (line,) = book(tenant, MONDAY, 700)
    expecting.take(RAIL, now=NOW)
    take(bai2_of(MONDAY, 700))
    shown = StatementLine.objects.get()

    def act(worker):
        if worker % 2:
            return close()
        return matching.tie([shown.pk], [line], rail=RAIL, rule=Rule.FILE, day=MONDAY, now=NOW)

    outcomes = race(act)

    refused = [each for each in outcomes if isinstance(each, MatchRefused)]
    assert len(refused) == WORKERS // 2 - 1
    assert Match.objects.count() == 1
    if not ClosedDay.objects.exists():
        close()
    assert ClosedDay.objects.get().in_transit == 0
    assert sound()


@rounds(4)
def test_a_line_is_booked_once_and_then_cleared_once(round_):
    take(of_kinds(MONDAY, ("credit", 900)))

    race(lambda _: booking.book_open(RAIL, None, now=NOW))
    booked = BookedLine.objects.get()
    proposals = race(
        lambda worker: clearing.propose(
            booked, ClearingKind.INCOME, reason="x", by=f"ann{worker}", now=NOW
        )
    )
    (proposal,) = [each for each in proposals if not isinstance(each, ClearingRefused)]
    race(lambda worker: clearing.approve(proposal.pk, by=f"bo{worker}", now=NOW))

    assert balances() == {"suspense": 0, "revenue": -900, f"settlement:{RAIL}": 900}


@rounds(4)
def test_an_account_begins_anew_before_or_after_a_day_closes(round_):
    """Never with a statement that nobody closes."""
    take(bai2_of(MONDAY))

    def act(worker):
        return in_force(opened_on=TUESDAY, cents=OPENING) if worker % 2 else close()

    outcomes = race(act)

    assert ClosedDay.objects.get().day == MONDAY
    assert all(isinstance(each, AccountRefused | CloseRefused) or each for each in outcomes)
    take(bai2_of(TUESDAY))
    assert close() == TUESDAY
    assert sound()
