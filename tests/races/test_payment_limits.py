"""Payments that come at once against a limit on money out: none slips past it."""

from __future__ import annotations

from collections import Counter

import pytest
from django.db.models import Sum

from balance import invariants
from common.clock import utc_now
from payments import caps
from payments.caps import Cap, CapScope, Window
from payments.models import Payment, PaymentTotal
from payments.services import limit_settings, orders
from tenants.actors import SYSTEM
from tests.builders import ApiClient, make_key, make_tenant
from tests.payments.builders import fund, pay
from tests.races.together import rounds, together

pytestmark = pytest.mark.django_db(transaction=True)

WORKERS = 16
PATH = "/api/v1/payments"


@pytest.fixture
def tenant(db):
    """It may pay five times 100 cents a day."""
    tenant = make_tenant()
    fund(tenant, 100_000, now=utc_now())
    wanted = {**caps.NONE, (CapScope.TENANT, Window.DAY): Cap(amount=599)}
    limit_settings.change(tenant_id=tenant.pk, wanted=wanted, actor=SYSTEM, now=utc_now())
    return tenant


def counted(tenant):
    rows = PaymentTotal.objects.filter(tenant=tenant, scope="tenant")
    return rows.aggregate(payments=Sum("payments"), amount=Sum("amount"))


@rounds(5, quick=2)
def test_sixteen_payments_against_a_limit_of_a_day(tenant, round_):
    results = together(lambda _: pay(tenant, 100, now=utc_now()), workers=WORKERS)

    kinds = Counter(type(result).__name__ for result in results)
    assert kinds == {"Payment": 5, "PaymentLimitReached": 11}
    assert Payment.objects.count() == 5
    assert counted(tenant) == {"payments": 5, "amount": 500}
    assert invariants.check(now=utc_now(), full=True).findings == []


@rounds(5, quick=1)
def test_payments_and_cancellations_at_once_give_back_what_they_took(tenant, round_):
    made = [pay(tenant, 100, now=utc_now(), wait=number > 2) for number in range(5)]

    def act(worker):
        if worker < len(made):
            return orders.cancel(
                tenant_id=tenant.pk, payment_id=made[worker].pk, actor=SYSTEM, now=utc_now()
            )
        return pay(tenant, 100, now=utc_now())

    results = together(act, workers=WORKERS)

    kinds = Counter(type(result).__name__ for result in results)
    assert set(kinds) <= {"Payment", "PaymentLimitReached"}
    assert counted(tenant)["payments"] == kinds["Payment"] - 5 <= 5
    assert invariants.check(now=utc_now(), full=True).findings == []


def test_the_same_request_many_times_at_once_counts_once(tenant):
    key = make_key(tenant)
    body = {
        "amount": 100,
        "recipient": {
            "accountNumber": "000123456789",
            "routingNumber": "021000021",
            "accountHolderName": "Supplier LLC",
            "accountHolderType": "business",
            "accountType": "checking",
        },
    }

    def send(_worker):
        return ApiClient(key).post_json(PATH, body, **{"Idempotency-Key": "once"}).status_code

    results = together(send, workers=8)
    send(0)

    assert set(results) <= {201, 409}
    assert counted(tenant) == {"payments": 1, "amount": 100}
