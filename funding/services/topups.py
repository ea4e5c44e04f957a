"""Top-ups: a person or program asks for money from a linked bank account."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from common.errors import NotFound
from common.ids import is_id
from funding.errors import FundingMethodNotSupported
from funding.methods import NETWORK_METHOD
from funding.models import FundingMethod, FundingTransaction, Trigger
from funding.services import auto_funding, confirmations, lifecycle, limits, sources
from funding.states import FundingStatus
from networks import calendar, registry
from networks.errors import NotCancelable
from tenants.actors import Actor


@dataclass(frozen=True, kw_only=True)
class TopUp:
    """What the caller asks for. `amount` is cents."""

    source_id: str
    amount: int
    method: FundingMethod = FundingMethod.ACH_DEBIT
    description: str = ""
    metadata: dict[str, str] = field(default_factory=dict)


@transaction.atomic
def request(
    *, tenant_id: str, mode: str, topup: TopUp, actor: Actor, now: datetime
) -> FundingTransaction:
    """Reserve a top-up; the money moves later.

    Raises NotFound, FundingSourceNotVerified, FundingSourceUnusable, FundingMethodNotSupported,
    AmountAboveLimit, DailyLimitExceeded, MonthlyLimitExceeded.
    """
    network = registry.for_mode(mode)
    if network is None:
        raise FundingMethodNotSupported(
            "No live payment network is connected yet.", field="fundingMethod"
        )
    source = sources.lock_usable(
        tenant_id=tenant_id, source_id=topup.source_id, method=topup.method
    )
    limits.check(tenant_id=tenant_id, method=topup.method, amount=topup.amount, now=now)
    deadline = auto_funding.confirmation_deadline(tenant_id=tenant_id, amount=topup.amount, now=now)
    terms = lifecycle.NewFunding(
        source=source,
        amount=topup.amount,
        method=topup.method,
        trigger=Trigger.TOPUP,
        network=network.name,
        expected_availability_date=calendar.expected_availability(
            NETWORK_METHOD[topup.method], now
        ),
        description=topup.description,
        metadata=topup.metadata,
        confirm_until=deadline,
    )
    funding = lifecycle.start(terms=terms, actor=actor, now=now)
    if deadline is not None:
        confirmations.request(
            funding=funding, reason="A top-up above the amount that needs no approval.", now=now
        )
    return funding


@transaction.atomic
def cancel(*, tenant_id: str, funding_id: str, actor: Actor, now: datetime) -> FundingTransaction:
    """Give up a funding that no network has seen. Raises NotFound, NotCancelable.

    A funding that was claimed for submission even once is past that: its outcome may be unknown.
    """
    funding = _lock(tenant_id, funding_id)
    is_unsent = Q(status=FundingStatus.RESERVED, attempts=0) | Q(
        status=FundingStatus.AWAITING_CONFIRMATION
    )
    if not FundingTransaction.objects.filter(is_unsent, pk=funding.pk).exists():
        raise NotCancelable(f"This funding transaction is {funding.status} and cannot be canceled.")
    confirmations.supersede(funding=funding, by=actor.id, now=now)
    lifecycle.move(
        funding=funding,
        target=FundingStatus.FAILED,
        actor=actor,
        now=now,
        reason="canceled",
        failure_code="canceled",
        failure_message="Canceled before it was handed to the bank.",
        next_attempt_at=None,
    )
    auto_funding.after_outcome(funding=funding, now=now)
    return funding


def _lock(tenant_id: str, funding_id: str) -> FundingTransaction:
    rows = FundingTransaction.objects.select_for_update(no_key=True)
    row = is_id(funding_id, "ftx") and rows.filter(tenant_id=tenant_id, pk=funding_id).first()
    if not row:
        raise NotFound("There is no such funding transaction.")
    return row
