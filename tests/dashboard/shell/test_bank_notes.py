"""What banks said about a transfer that moved no money, on its page."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from common import database_clock
from networks.base import EventKind
from tests.builders import NOW
from tests.networks.scripted import ScriptedNetwork, message
from tests.transfers.directions import DIRECTIONS
from transfers import dishonors, submission
from transfers.inbox import arrivals, messages

pytestmark = pytest.mark.django_db
FRIDAY = date(2026, 11, 20)
PATHS = {"in": "/dashboard/funding", "out": "/dashboard/payments"}


@pytest.fixture(params=DIRECTIONS)
def money(request):
    return DIRECTIONS[request.param]


@pytest.fixture
def sent(acme, money):
    row = money.make(acme, to="60001")
    submission.submit_due(money.transfer, now=NOW)
    return row


def hear(money, row, *kinds, **said):
    for number, kind in enumerate(kinds):
        event = message(row, kind, id=f"nev-{kind}", **said)
        arrivals.collect(
            network=ScriptedNetwork(event), id_prefix=money.transfer.id_prefix, now=NOW
        )
        messages.apply_new(money.transfer, now=NOW + timedelta(seconds=number))


@pytest.fixture
def page(money, sent, dana_browser):
    path = f"{PATHS[money.transfer.direction]}/{sent.pk}"
    return lambda: dana_browser.get(path).content.decode()


def test_a_later_day_is_told_with_the_day(money, sent, page):
    hear(money, sent, EventKind.RESCHEDULED, settlement_date=FRIDAY)

    day = {"in": "Tuesday, November 24, 2026", "out": "Friday, November 20, 2026"}
    expected = day[money.transfer.direction]
    assert f"Expected now on {expected}" in page()
    assert f"<dd>{expected}" in page()


def test_a_corrected_account_is_told_with_what_was_wrong(money, sent, page):
    money.run_due(rounds=8)

    assert "Details were corrected by the bank" in page()
    assert "Account number (C01): from now on" in page()


def test_a_correction_that_changed_nothing_is_not_told(money, sent, page):
    hear(money, sent, EventKind.CORRECTED, code="C04")

    assert "corrected by the bank" not in page()


@pytest.mark.parametrize(
    ("kind", "code", "words"),
    [
        (EventKind.RETURN_DISHONORED, "R68", "Our bank does not accept the return"),
        (EventKind.RETURN_CONTESTED, "R73", "The other bank stands by its return"),
    ],
)
def test_a_dispute_about_a_return_follows_it(money, sent, page, kind, code, words):
    assert words not in page()
    hear(money, sent, EventKind.RETURNED, code="R01")
    hear(money, sent, kind, code=code)

    assert words in page()
    assert f"({code})" in page()


def test_the_money_of_a_dishonored_return_is_told(money, sent, page):
    hear(money, sent, EventKind.RETURNED, code="R01")
    hear(money, sent, EventKind.RETURN_DISHONORED, code="R68", settlement_date=FRIDAY)
    if money.transfer.direction == "in":
        assert "Its money is credited after" in page()
        wednesday = datetime(2026, 11, 25, 14, tzinfo=UTC)
        with database_clock.at(wednesday):
            dishonors.count_due(now=wednesday)
    counted, undone = "Its money was credited to your balance", "Your balance was debited again"
    if money.transfer.direction == "out":
        counted, undone = undone, counted
    assert counted in page()
    assert undone not in page()

    hear(money, sent, EventKind.RETURN_CONTESTED, code="R73")

    assert undone in page()


def test_trace_settlement_and_reason_are_told(money, sent, page):
    trace = "091000010000007"
    hear(money, sent, EventKind.ACCEPTED, trace_number=trace)
    hear(money, sent, EventKind.SETTLED, settlement_date=FRIDAY)
    hear(money, sent, EventKind.RETURNED, code="R01")

    assert trace in page()
    assert "Nov 20, 2026" in page()
    assert "R01: Insufficient funds" in page()
