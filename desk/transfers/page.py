"""What staff see of one funding or payment: what its tenant sees, and what only the bank and we
know of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from approvals.models import Approval
from common.errors import NotFound
from common.ids import is_id
from dashboard.chain.collected import Chain, collect
from dashboard.funding import detail as funding_detail
from dashboard.funding.detail import FundingDetail
from dashboard.payments import detail as payment_detail
from dashboard.payments.detail import PaymentDetail
from dashboard.shell import stops
from desk.entries import reversals
from desk.entries.page import entries_of
from desk.entries.reversals import ReversalLine
from desk.instant import page as instant
from desk.transfers import related
from desk.transfers.related import Related
from funding import selectors as funding
from funding.models import SOURCE_TYPE as FUNDING_SOURCE
from funding.models import FundingEvent, FundingTransaction
from funding.transfer import FUNDING
from networks.ach.models import AchEntry
from networks.instant.models import Conversation
from payments import selectors as payments
from payments.models import SOURCE_TYPE as PAYMENT_SOURCE
from payments.models import Payment, PaymentEvent
from payments.transfer import PAYMENTS
from tenants import selectors as tenants
from tenants.models import Tenant
from transfers.hold_admin import possible_acts
from transfers.inbox.models import HandSettlement
from webhooks import selectors as webhooks
from webhooks.models import WebhookDelivery

SETTLEMENTS_SHOWN = 20
_WORDS = {
    "hold": "Hold for a look",
    "release": "Release",
    "stop": "Stop for good",
    "withdraw": "Withdraw from its network",
}


@dataclass(frozen=True)
class Cut:
    """How many events and deliveries there are where the page shows the first ones alone, else 0;
    `shown` is how many deliveries it shows."""

    events: int
    deliveries: int
    shown: int


@dataclass(frozen=True)
class TransferPage:
    """Everything the page shows. `acts` are the steps that are possible now: the address's name in
    the admin, and what the button says. `entries` are empty for what did not go by ACH,
    `conversations` for what did not try an instant network. `history` are the changes of its
    status; `keeper` is what keeps it from being sent, if anything."""

    row: FundingTransaction | Payment
    detail: FundingDetail | PaymentDetail
    title: str
    tenant: Tenant
    chain: Chain
    entries: list[AchEntry]
    conversations: list[Conversation]
    settlements: Sequence[HandSettlement]
    acts: list[tuple[str, str]]
    history: Sequence[FundingEvent | PaymentEvent]
    account: Related
    approvals: list[Related]
    adjustments: list[Related]
    keeper: Related | None
    reversals: list[ReversalLine]
    cut: Cut


@dataclass(frozen=True)
class _Told:
    """What fundings and payments tell each in their own way. `about` says from or to whom and when,
    and `base` is what addresses of the admin begin with."""

    detail: FundingDetail | PaymentDetail
    about: str
    base: str
    acts: set[str]
    history: Sequence[FundingEvent | PaymentEvent]
    approvals: Sequence[Approval]


def funding_page(funding_id: str, *, with_audit: bool, now: datetime) -> TransferPage:
    """Some thirty queries at most, however much hangs on it. Raises NotFound."""
    found = is_id(funding_id, "ftx") and FundingTransaction.objects.filter(pk=funding_id).first()
    if not found:
        raise NotFound("There is no such funding transaction.")
    row = funding.attempt(tenant_id=found.tenant_id, funding_id=funding_id)
    history = list(funding.history(row))
    tenant = tenants.found_tenant(row.tenant_id)
    chain, names = _chain(row, FUNDING_SOURCE, history, with_audit=with_audit)
    detail = funding_detail.detail(
        row, history=history, names=names, stop=stops.of(tenant).funding, now=now
    )
    told = _Told(
        detail=detail,
        about=f"from {detail.line.source} · {detail.day}",
        base="funding_fundingtransaction",
        acts=possible_acts(FUNDING, row),
        history=history,
        approvals=[row.confirmation] if hasattr(row, "confirmation") else [],
    )
    return _page(row, tenant, chain, told)


def payment_page(payment_id: str, *, with_audit: bool, now: datetime) -> TransferPage:
    """Some thirty queries at most, however much hangs on it. Raises NotFound."""
    found = is_id(payment_id, "pay") and Payment.objects.filter(pk=payment_id).first()
    if not found:
        raise NotFound("There is no such payment.")
    row = payments.payment(tenant_id=found.tenant_id, payment_id=payment_id)
    history = list(payments.history(row))
    tenant = tenants.found_tenant(row.tenant_id)
    chain, names = _chain(row, PAYMENT_SOURCE, history, with_audit=with_audit)
    approvals = list(payments.approvals(row))
    detail = payment_detail.detail(
        row,
        history=history,
        approvals=approvals,
        deciding=(),
        names=names,
        stop=stops.of(tenant).payments,
        new={},
        now=now,
    )
    told = _Told(
        detail=detail,
        about=f"to {detail.line.to} · {detail.day}",
        base="payments_payment",
        acts=possible_acts(PAYMENTS, row),
        history=history,
        approvals=approvals,
    )
    return _page(row, tenant, chain, told)


def _chain(
    row: FundingTransaction | Payment, source_type: str, history: Sequence[Any], *, with_audit: bool
) -> tuple[Chain, Mapping[str, str]]:
    """What hangs on it, and the names of those who did something to it."""
    collected = collect(
        tenant_id=row.tenant_id, subject_id=row.pk, source_type=source_type, with_audit=with_audit
    )
    names = tenants.people_and_keys({event.actor_id for event in history} | collected.actors)
    return collected.chain(names), names


def _page(
    row: FundingTransaction | Payment, tenant: Tenant, chain: Chain, told: _Told
) -> TransferPage:
    """The page of either: what `told` says, and what hangs on both alike."""
    entries = _entries(row.pk)
    by_hand = HandSettlement.objects.filter(subject_id=row.pk).order_by("-proposed_at")
    return TransferPage(
        row=row,
        detail=told.detail,
        title=told.about,
        tenant=tenant,
        chain=chain,
        entries=entries,
        conversations=instant.of_transfer(row.pk),
        settlements=list(by_hand[:SETTLEMENTS_SHOWN]),
        acts=[
            (f"admin:{told.base}_{name}", words)
            for name, words in _WORDS.items()
            if name in told.acts
        ],
        history=told.history,
        account=related.account_of(row),
        approvals=related.approvals_of(told.approvals),
        adjustments=related.adjustments_of(row),
        keeper=related.keeper_of(row),
        reversals=reversals.of_entries(entries) if entries else [],
        cut=_cut(row, chain),
    )


def _cut(row: FundingTransaction | Payment, chain: Chain) -> Cut:
    """Counts only what the page does not show whole."""
    are_cut = chain.are_events_cut or chain.are_deliveries_cut
    events = webhooks.events_about(tenant_id=row.tenant_id, payment_id=row.pk)
    sent = WebhookDelivery.objects.filter(event__payment_id=row.pk)
    return Cut(
        events=events.count() if chain.are_events_cut else 0,
        deliveries=sent.count() if are_cut else 0,
        shown=sum(len(event.deliveries) for event in chain.events),
    )


def _entries(instruction_id: str) -> list[AchEntry]:
    try:
        return entries_of(instruction_id)
    except NotFound:
        return []
