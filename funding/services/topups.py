"""Top-ups: a person or program asks for money from a linked bank account."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from django.db import transaction

from approvals import requests
from common import ids
from common.engine.transactions import in_transaction
from common.errors import NotFound
from common.ids import is_id
from funding.errors import FundingMethodNotSupported
from funding.methods import NETWORK_METHOD
from funding.models import FundingMethod, FundingTransaction, Trigger
from funding.services import approvals, auto_funding, lifecycle, limits, topup_terms
from funding.states import FundingStatus
from networks import calendar, registry
from tenants.actors import Actor
from tenants.models import Tenant
from transfers.errors import NotCancelable

CANCELED_CODE = "canceled"


@dataclass(frozen=True, kw_only=True)
class TopUp:
    """What the caller asks for. `amount` is cents; `id` will be that of the funding."""

    source_id: str
    amount: int
    method: FundingMethod = FundingMethod.ACH_DEBIT
    description: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    id: str = field(default_factory=partial(ids.new, "ftx"))


@in_transaction
def request(
    *, tenant_id: str, mode: str, topup: TopUp, actor: Actor, now: datetime
) -> FundingTransaction:
    """Reserve a top-up; the money moves later.

    Raises NotFound, FundingSourceNotVerified, FundingSourceUnusable, FundingMethodNotSupported,
    FundingSourceNotAuthorized, AmountAboveLimit, DailyLimitExceeded, MonthlyLimitExceeded,
    BalanceOutOfRange.
    """
    network = registry.for_mode(mode)
    if network is None:
        raise FundingMethodNotSupported(
            "No live payment network is connected yet.", field="fundingMethod"
        )
    terms = topup_terms.lock(tenant_id=tenant_id, source_id=topup.source_id, method=topup.method)
    limits.check(
        terms.limits, tenant_id=tenant_id, method=topup.method, amount=topup.amount, now=now
    )
    deadline = requests.deadline(terms.approved_above, amount=topup.amount, now=now)
    new = lifecycle.NewFunding(
        tenant_id=tenant_id,
        source_id=topup.source_id,
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
        id=topup.id,
    )
    funding = lifecycle.start(terms=new, actor=actor, now=now)
    if deadline is not None:
        approvals.request(
            funding=funding, reason="A top-up above the amount that needs no approval.", now=now
        )
    return funding


@transaction.atomic
def request_once(
    *, tenant_id: str, mode: str, topup: TopUp, actor: Actor, now: datetime
) -> tuple[FundingTransaction, bool]:
    """The same for a form that people may send twice: a repeat of `topup.id` changes nothing.

    Returns the funding, and whether it is new: one that has this id already is returned as it is,
    whatever the repeat says. One form at a time per tenant. Raises what `request` raises.
    """
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)
    existing = FundingTransaction.objects.filter(tenant_id=tenant_id, pk=topup.id).first()
    if existing is not None:
        return existing, False
    return request(tenant_id=tenant_id, mode=mode, topup=topup, actor=actor, now=now), True


@transaction.atomic
def cancel(*, tenant_id: str, funding_id: str, actor: Actor, now: datetime) -> FundingTransaction:
    """Give up a funding that no network has seen. Raises NotFound, NotCancelable.

    A funding that was claimed for submission even once is past that: its outcome may be unknown.
    """
    funding = _lock(tenant_id, funding_id)
    if not funding.is_unsent:
        raise NotCancelable(f"This funding transaction is {funding.status} and cannot be canceled.")
    approvals.supersede(funding=funding, by=actor.id, now=now)
    lifecycle.move(
        funding=funding,
        target=FundingStatus.FAILED,
        actor=actor,
        now=now,
        reason=CANCELED_CODE,
        failure_code=CANCELED_CODE,
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
