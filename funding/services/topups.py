"""Top-ups: a person or program asks for money from a linked bank account."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from approvals import requests
from common.engine.transactions import in_transaction
from common.errors import NotFound
from common.ids import is_id
from funding.errors import FundingMethodNotSupported
from funding.methods import METHODS
from funding.models import DebitAuthorization, FundingTransaction
from funding.services import (
    approvals,
    auto_funding,
    debit_authorizations,
    lifecycle,
    limits,
    topup_terms,
)
from funding.services.lifecycle import TopUp
from funding.services.topup_terms import Terms
from funding.states import FundingStatus
from networks.base import PaymentNetwork
from tenants.actors import Actor
from tenants.models import Tenant
from transfers.errors import NotCancelable

CANCELED_CODE = "canceled"


@in_transaction
def request(
    *, tenant_id: str, mode: str, topup: TopUp, actor: Actor, now: datetime
) -> FundingTransaction:
    """Reserve a top-up; the money moves later.

    Raises NotFound, FundingSourceNotVerified, FundingSourceUnusable, FundingMethodNotSupported,
    FundingSourceNotAuthorized, AuthorizationRequired, AmountAboveLimit, DailyLimitExceeded,
    MonthlyLimitExceeded, BalanceOutOfRange.
    """
    network = network_for(mode, topup.method)
    terms = topup_terms.lock(
        tenant_id=tenant_id, mode=mode, source_id=topup.source_id, method=topup.method
    )
    authorization = debit_authorizations.for_topup(
        tenant_id=tenant_id,
        mode=mode,
        holder_type=terms.holder_type,
        topup=topup,
        actor=actor,
        now=now,
    )
    return reserve(
        topup, terms, authorization, tenant_id=tenant_id, network=network.name, actor=actor, now=now
    )


def reserve(
    topup: TopUp,
    terms: Terms,
    authorization: DebitAuthorization | None,
    *,
    tenant_id: str,
    network: str,
    actor: Actor,
    now: datetime,
) -> FundingTransaction:
    """Create the funding of a top-up whose source is locked, in the caller's transaction. Raises
    AmountAboveLimit, DailyLimitExceeded, MonthlyLimitExceeded, BalanceOutOfRange."""
    limits.check(
        terms.limits, tenant_id=tenant_id, method=topup.method, amount=topup.amount, now=now
    )
    deadline = requests.deadline(terms.approved_above, amount=topup.amount, now=now)
    funding = lifecycle.start(
        topup, tenant_id=tenant_id, network=network, confirm_until=deadline, actor=actor, now=now
    )
    if authorization is not None:
        debit_authorizations.attach(authorization, funding=funding, now=now)
    if deadline is not None:
        approvals.request(
            funding=funding, reason="A top-up above the amount that needs no approval.", now=now
        )
    return funding


@transaction.atomic
def request_once(
    *, tenant_id: str, mode: str, topup: TopUp, actor: Actor, now: datetime
) -> tuple[FundingTransaction, bool]:
    """Reserve a top-up from a form that may be sent twice: a repeat of `topup.id` changes nothing.

    Returns the funding, and whether it is new. A funding that already has this id is returned as it
    is, even if the repeat has other values. Forms of one tenant run one after the other. Raises
    what `request` raises.
    """
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)
    existing = FundingTransaction.objects.filter(tenant_id=tenant_id, pk=topup.id).first()
    if existing is not None:
        return existing, False
    return request(tenant_id=tenant_id, mode=mode, topup=topup, actor=actor, now=now), True


@transaction.atomic
def cancel(*, tenant_id: str, funding_id: str, actor: Actor, now: datetime) -> FundingTransaction:
    """Cancel a funding that no network has seen. Raises NotFound, NotCancelable.

    A funding that was ever claimed for submission can no longer be canceled: its outcome may be
    unknown.
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
    auto_funding.after_outcomes([funding], now=now)
    return funding


def network_for(mode: str, method: str) -> PaymentNetwork:
    """The network for a top-up by `method`. Raises FundingMethodNotSupported."""
    if (network := METHODS[method].network(mode)) is None:
        raise FundingMethodNotSupported(
            "No live payment network is connected yet."
            if not METHODS.of_mode(mode)
            else f"No payment network for a {METHODS[method].words} is connected.",
            field="fundingMethod",
        )
    return network


def _lock(tenant_id: str, funding_id: str) -> FundingTransaction:
    rows = FundingTransaction.objects.select_for_update(no_key=True)
    row = is_id(funding_id, "ftx") and rows.filter(tenant_id=tenant_id, pk=funding_id).first()
    if not row:
        raise NotFound("There is no such funding transaction.")
    return row
