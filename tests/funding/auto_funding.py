"""What tests of auto-funding do again and again."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction

from common.money import AMOUNT_MAX
from funding.models import (
    AutoFundingConfig,
    AutoFundingDecision,
    FundingLimit,
    FundingTransaction,
    Trigger,
)
from funding.services import auto_funding, lifecycle
from funding.states import FundingStatus
from tenants.actors import SYSTEM, api_key
from tests.builders import NOW, make_auto_funding
from tests.networks.scripted import BankOfOneLimit

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
KEY = api_key("key_1")


def paused_until():
    until = AutoFundingConfig.objects.get().paused_until
    assert until is not None
    return until


def evaluate(tenant, now=NOW):
    return auto_funding.evaluate(tenant_id=tenant.pk, now=now)


def automatic(tenant):
    return FundingTransaction.objects.filter(tenant=tenant, trigger=Trigger.AUTO_FUNDING)


def log_of(tenant):
    rows = AutoFundingDecision.objects.filter(tenant=tenant).order_by("created_at", "pk")
    return [f"{row.outcome} {row.reason}" for row in rows]


def move(funding, target, now=NOW, **changes):
    with transaction.atomic():
        lifecycle.move(funding=funding, target=target, actor=SYSTEM, now=now, **changes)
        if target in {FundingStatus.COMPLETED, FundingStatus.FAILED}:
            auto_funding.after_outcomes([funding], now=now)


def complete(funding, now=NOW):
    for status in (FundingStatus.PENDING, FundingStatus.IN_TRANSIT, FundingStatus.COMPLETED):
        move(funding, status, now)


def fail(funding, code="R01", now=NOW):
    move(funding, FundingStatus.FAILED, now, failure_code=code)


def make_broken_auto_funding(tenant, connect):
    """Settings that no check refuses and the database does: more cents than a row may hold, and a
    network that takes them."""
    connect(BankOfOneLimit(2 * AMOUNT_MAX))
    FundingLimit.objects.create(tenant=tenant, ach_transaction_max=2 * AMOUNT_MAX)
    make_auto_funding(tenant, funding_amount=AMOUNT_MAX + 1)
