"""Celery's doors into auto-funding: each finds its work by itself and may run twice."""

from __future__ import annotations

from datetime import timedelta

from common.clock import utc_now
from funding.models import Confirmation, FundingTransaction
from funding.services import auto_funding
from funding.tasks import auto_funding as tasks
from tests.builders import make_auto_funding, make_source


def test_the_sweep_adds_money_once(acme):
    make_source(acme)
    make_auto_funding(acme)

    for _ in range(2):
        tasks.sweep_auto_funding()

    assert FundingTransaction.objects.count() == 1


def test_one_tenant_is_looked_at_on_request(acme, rival):
    for tenant in (acme, rival):
        make_source(tenant)
        make_auto_funding(tenant)

    tasks.evaluate_auto_funding(tenant_id=acme.pk, argument_of_a_later_release=True)

    assert FundingTransaction.objects.get().tenant == acme


def test_the_sweep_closes_old_approvals_once(acme):
    make_source(acme)
    make_auto_funding(acme, confirmation_threshold=0)
    auto_funding.evaluate(tenant_id=acme.pk, now=utc_now() - timedelta(hours=73))

    for _ in range(2):
        tasks.sweep_confirmations()

    assert Confirmation.objects.get().decision == "expired"
    assert FundingTransaction.objects.get().failure_code == "confirmation_expired"
