"""Requests and payments at weekends, when clocks change, and at the end of a cycle day."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from networks.instant.iso.profiles import EASTERN
from networks.instant.models import Conversation
from tests.networks.instant.builders import payment, request
from tests.networks.instant.life import hear, kinds, news, the
from tests.networks.instant.operator import only

pytestmark = pytest.mark.django_db

SETTLED = {"rtp": "ACTC", "fednow": "ACSC"}


def eastern(text: str) -> datetime:
    """A moment of New York's clocks; in the hour that comes twice with its offset."""
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=EASTERN)).astimezone(UTC)


# When it settles, and the day of RTP, which ends at midnight, and of FedNow, which ends at 19:00.
MOMENTS = [
    # Friday, Saturday, Sunday: no day is left out.
    ("2026-11-20T18:59:59", date(2026, 11, 20), date(2026, 11, 20)),
    ("2026-11-20T19:00:00", date(2026, 11, 20), date(2026, 11, 21)),
    ("2026-11-21T12:00:00", date(2026, 11, 21), date(2026, 11, 21)),
    ("2026-11-22T23:59:59", date(2026, 11, 22), date(2026, 11, 23)),
    ("2026-11-23T00:00:00", date(2026, 11, 23), date(2026, 11, 23)),
    # Clocks go forward on 2026-03-08: a day of 23 hours.
    ("2026-03-07T18:59:59", date(2026, 3, 7), date(2026, 3, 7)),
    ("2026-03-07T19:00:00", date(2026, 3, 7), date(2026, 3, 8)),
    ("2026-03-07T23:59:59", date(2026, 3, 7), date(2026, 3, 8)),
    ("2026-03-08T01:59:59", date(2026, 3, 8), date(2026, 3, 8)),
    ("2026-03-08T03:00:00", date(2026, 3, 8), date(2026, 3, 8)),
    ("2026-03-08T18:59:59", date(2026, 3, 8), date(2026, 3, 8)),
    ("2026-03-08T19:00:00", date(2026, 3, 8), date(2026, 3, 9)),
    ("2026-03-09T00:00:00", date(2026, 3, 9), date(2026, 3, 9)),
    # Clocks go back on 2026-11-01: a day of 25 hours, on which 01:30 comes twice.
    ("2026-10-31T19:00:00", date(2026, 10, 31), date(2026, 11, 1)),
    ("2026-11-01T01:30:00-04:00", date(2026, 11, 1), date(2026, 11, 1)),
    ("2026-11-01T01:30:00-05:00", date(2026, 11, 1), date(2026, 11, 1)),
    ("2026-11-01T18:59:59", date(2026, 11, 1), date(2026, 11, 1)),
    ("2026-11-01T19:00:00", date(2026, 11, 1), date(2026, 11, 2)),
    # A holiday on which no bank works, and the turn of the year.
    ("2025-12-25T12:00:00", date(2025, 12, 25), date(2025, 12, 25)),
    ("2025-12-31T19:00:00", date(2025, 12, 31), date(2026, 1, 1)),
]
at_any_moment = pytest.mark.parametrize(
    ("text", "rtp", "fednow"), MOMENTS, ids=[text for text, _, _ in MOMENTS]
)


@at_any_moment
def test_a_payment_settles_on_the_day_of_its_moment(operator, bank, text, rtp, fednow):
    moment = eastern(text)
    told = payment()
    bank.submit_many([told], now=moment)
    order = only(operator.taken())
    assert order.created_at == _as_read(moment, operator)
    assert order.settlement_date == {"rtp": rtp, "fednow": fednow}[operator.name]

    operator.say(operator.report(order, SETTLED[operator.name], now=moment))
    hear()

    settled, final = news(bank)
    assert (settled.kind, final.kind) == ("settled", "final")
    assert settled.settlement_date == {"rtp": rtp, "fednow": fednow}[operator.name]
    assert the(told.id).settlement_date == settled.settlement_date


@at_any_moment
def test_money_for_a_request_settles_on_the_day_of_its_moment(
    operator, bank, now, text, rtp, fednow
):
    moment = eastern(text)
    told = request(moment, expires_at=now + timedelta(hours=1))
    bank.submit_many([told], now=moment)
    asked = only(operator.taken())

    money = operator.payment_of(asked, now=moment)
    operator.say(money, operator.report(money, SETTLED[operator.name], now=moment))
    hear()

    settled, final = news(bank)
    assert (settled.kind, final.kind) == ("settled", "final")
    assert settled.settlement_date == {"rtp": rtp, "fednow": fednow}[operator.name]
    credit = Conversation.objects.get(kind="credit")
    assert (credit.settlement_date, credit.mismatch) == (settled.settlement_date, "")


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-20T19:00:00",  # over a weekend's night
        "2026-03-07T12:00:00",  # over the hour that is left out
        "2026-10-31T12:00:00",  # over the hour that comes twice
        "2025-12-24T12:00:00",  # over a holiday
    ],
)
def test_a_request_is_open_for_as_many_hours_as_it_says(operator, bank, text):
    moment = eastern(text)
    told = request(moment, expires_at=moment + timedelta(hours=24))
    bank.submit_many([told], now=moment)

    assert only(operator.taken()).expires_at == moment + timedelta(hours=24)
    hear()  # it is over by now

    assert (kinds(bank), the(told.id).status) == (["rejected EXPIRED"], "expired")


@pytest.mark.parametrize(
    ("until", "read_as"),
    [
        ("2026-11-01T01:30:00-04:00", "2026-11-01T01:30:00-04:00"),
        ("2026-11-01T01:30:00-05:00", "2026-11-01T01:30:00-04:00"),  # RTP writes no offset
    ],
)
def test_an_expiry_in_the_hour_that_comes_twice_is_never_late(operator, bank, until, read_as):
    told = request(eastern(until), expires_at=eastern(until))
    bank.submit_many([told], now=eastern(until) - timedelta(hours=4))

    expected = read_as if operator.name == "rtp" else until
    assert only(operator.taken()).expires_at == eastern(expected)


@at_any_moment
def test_what_is_posted_later_is_final_at_the_end_of_the_next_banking_day(
    operator, bank, text, rtp, fednow
):
    moment = eastern(text)
    told = payment()
    bank.submit_many([told], now=moment)
    operator.say(operator.report(only(operator.taken()), "ACWP", now=moment))
    hear()

    row = the(told.id)
    day = {"rtp": rtp, "fednow": fednow}[operator.name]
    assert row.settlement_date == day
    assert row.final_due_at is not None
    end = row.final_due_at.astimezone(EASTERN)
    assert (end.hour, end.minute) == (0, 0)
    assert timedelta(days=1) < end.date() - day <= timedelta(days=6)
    assert (end - timedelta(days=1)).weekday() < 5


def _as_read(moment: datetime, operator) -> datetime:
    """RTP's hour that comes twice is read as the first of the two."""
    is_twice = moment == eastern("2026-11-01T01:30:00-05:00")
    return moment - timedelta(hours=is_twice and operator.name == "rtp")
