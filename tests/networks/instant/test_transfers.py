"""Tenants' money over an instant rail: balances and books, at any hour of any day."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from balance import invariants
from balance.models import Balance
from common.clock import utc_now
from funding.models import FundingMethod
from networks.instant.iso.messages import Reason
from networks.sandbox.models import SandboxInstruction
from payments.models import AUTO, PaymentMethod
from tests.builders import make_source
from tests.funding.builders import run_due as run_funding
from tests.funding.builders import top_up
from tests.networks.instant.life import hear
from tests.networks.instant.operator import only
from tests.payments.builders import fund, pay
from tests.payments.builders import run_due as run_payments

pytestmark = pytest.mark.django_db

SETTLED = {"rtp": "ACTC", "fednow": "ACSC"}


@pytest.fixture(autouse=True)
def connected(connect, bank, operator):
    connect(bank)


def available(tenant):
    return Balance.objects.get(tenant_id=tenant.pk).available


def findings():
    return [str(each) for each in invariants.check(now=utc_now(), full=True).findings]


def test_a_request_that_is_paid_is_in_the_balance(acme, operator, now):
    row = top_up(acme, source=make_source(acme), method=FundingMethod.RTP, now=now)
    run_funding(now=now)
    asked = only(operator.taken())
    operator.say(operator.answer(asked, "ACTC", now=now))
    money = operator.payment_of(asked, now=now)
    operator.say(money, operator.report(money, SETTLED[operator.name], now=now))
    hear()
    run_funding(now=utc_now())

    row.refresh_from_db()
    assert (row.status, available(acme)) == ("completed", 25_000)
    assert row.settlement_date == operator.profile.settlement_date(now)
    assert findings() == []


def test_a_payment_leaves_the_balance(acme, operator, now):
    fund(acme, 50_000)
    row = pay(acme, 10_000, method=PaymentMethod.RTP, now=now)
    run_payments(now=now)
    operator.say(operator.report(only(operator.taken()), SETTLED[operator.name], now=now))
    hear()
    run_payments(now=utc_now())

    row.refresh_from_db()
    assert (row.status, available(acme)) == ("completed", 40_000)
    assert findings() == []


def test_a_payment_that_is_refused_is_in_the_balance_again(acme, operator, now):
    fund(acme, 50_000)
    row = pay(acme, 10_000, method=PaymentMethod.RTP, now=now)
    run_payments(now=now)
    operator.say(operator.report(only(operator.taken()), "RJCT", code="AC04", now=now))
    hear()
    run_payments(now=utc_now())

    row.refresh_from_db()
    assert (row.status, row.failure_code, available(acme)) == ("failed", "AC04", 50_000)
    assert findings() == []


def test_a_payment_that_was_refused_and_then_settles_goes_no_other_way(acme, operator, now):
    fund(acme, 50_000)
    row = pay(acme, 10_000, method=AUTO, now=now)
    run_payments(now=now)
    order = only(operator.taken())
    operator.say(operator.report(order, "RJCT", code="NOAT", now=now))
    operator.say(operator.report(order, SETTLED[operator.name], now=now))
    hear()
    run_payments(now=utc_now())

    row.refresh_from_db()
    assert (row.status, row.method, row.standing) == ("created", "ach_credit", "on hold")
    assert not SandboxInstruction.objects.filter(external_id=row.pk).exists()
    assert available(acme) == 40_000
    assert findings() == []


def test_a_payment_that_comes_back_is_in_the_balance_again(acme, operator, now):
    fund(acme, 50_000)
    row = pay(acme, 10_000, method=PaymentMethod.RTP, now=now)
    run_payments(now=now)
    order = only(operator.taken())
    back = operator.give_back(order, now=now)
    operator.say(operator.report(order, "ACWP", now=now))
    operator.say(operator.report(order, "RJCT", code="AC04", now=now), back)
    operator.say(operator.report(back, SETTLED[operator.name], now=now))
    hear()
    run_payments(now=utc_now())

    row.refresh_from_db()
    assert (row.status, row.failure_code, available(acme)) == ("failed", "AC04", 50_000)
    assert findings() == []


@pytest.mark.parametrize(
    ("moment", "rtp", "fednow"),
    [
        # A Saturday at 18:59:59 and 19:00 in New York, where FedNow's day ends.
        (datetime(2026, 10, 24, 22, 59, 59, tzinfo=UTC), date(2026, 10, 24), date(2026, 10, 24)),
        (datetime(2026, 10, 24, 23, 0, tzinfo=UTC), date(2026, 10, 24), date(2026, 10, 25)),
        # The hour that there is twice when clocks go back, and midnight before it.
        (datetime(2026, 11, 1, 5, 30, tzinfo=UTC), date(2026, 11, 1), date(2026, 11, 1)),
        (datetime(2026, 11, 1, 3, 59, 59, tzinfo=UTC), date(2026, 10, 31), date(2026, 11, 1)),
        # Thanksgiving.
        (datetime(2026, 11, 26, 15, 0, tzinfo=UTC), date(2026, 11, 26), date(2026, 11, 26)),
    ],
)
def test_settles_on_the_networks_day_at_any_hour(acme, operator, now, moment, rtp, fednow):
    fund(acme, 50_000)
    row = pay(acme, 10_000, method=PaymentMethod.RTP, now=now)
    run_payments(now=now)
    said = operator.report(
        only(operator.taken()), SETTLED[operator.name], now=now, accepted_at=moment
    )
    operator.say(said)
    hear()
    run_payments(now=utc_now())

    row.refresh_from_db()
    day = {"rtp": rtp, "fednow": fednow}[operator.name]
    assert (row.status, row.settlement_date) == ("completed", day)
    assert findings() == []


def test_a_payment_that_comes_back_without_a_word_is_in_the_balance_again(acme, operator, now):
    """RTP's return is a new payment, which says what it gives back, and not why."""
    fund(acme, 50_000)
    row = pay(acme, 10_000, method=PaymentMethod.RTP, now=now)
    run_payments(now=now)
    order = only(operator.taken())
    operator.say(operator.report(order, SETTLED[operator.name], now=now))
    hear()
    run_payments(now=utc_now())
    row.refresh_from_db()
    assert (row.status, available(acme)) == ("completed", 40_000)

    back = operator.give_back(order, now=now)
    if operator.name == "fednow":  # it may be a bank's own word
        back = replace(back, reason=Reason(proprietary="A-BANKS-OWN-WORD"))
    operator.say(back, operator.report(back, SETTLED[operator.name], now=now))
    hear()
    run_payments(now=utc_now())

    row.refresh_from_db()
    assert (row.status, available(acme)) == ("returned", 50_000)
    assert findings() == []
