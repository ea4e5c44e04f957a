"""Handing reserved funding to its network."""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet

from common.errors import RuleViolation
from funding.methods import NETWORK_METHOD
from funding.models import FundingTransaction
from funding.services import auto_funding, lifecycle, sources
from funding.states import FundingStatus
from networks.base import Accepted, Instruction, InstructionRefused
from tenants import actors
from tenants.models import TenantStatus
from tenants.switches import SwitchKind, submittable
from transfers import submission
from transfers.submission import Desk


def submit_due(*, now: datetime) -> int:
    """Submit reserved funding that is due; returns how many were claimed."""
    return submission.submit_due(DESK, now=now)


def _due() -> QuerySet[FundingTransaction]:
    """A held one, those of a suspended tenant, and what a switch stops, wait for their release."""
    rows = FundingTransaction.objects.filter(
        status=FundingStatus.RESERVED, held_at=None, tenant__status=TenantStatus.ACTIVE
    )
    return submittable(rows, kind=SwitchKind.FUNDING).select_related("source")


def _require_debitable(funding: FundingTransaction) -> None:
    """Raises InstructionRefused where the bank has ended the account, or the authorization to debit
    it, since this was reserved. The account is read again: it was claimed with others, before."""
    funding.source.refresh_from_db()
    try:
        sources.require_debitable(source=funding.source, method=funding.method)
    except RuleViolation as refusal:
        raise InstructionRefused(code=refusal.code, reason=refusal.detail) from refusal


def _instruction(funding: FundingTransaction) -> Instruction:
    return Instruction(
        id=funding.pk,
        method=NETWORK_METHOD[funding.method],
        amount=funding.amount,
        currency=funding.currency,
        account=funding.source.in_clear(),
        description=funding.description,
    )


def _record_acceptance(funding: FundingTransaction, accepted: Accepted, now: datetime) -> None:
    lifecycle.move(
        funding=funding,
        target=FundingStatus.PENDING,
        actor=actors.network(funding.network),
        now=now,
        network_reference=accepted.reference,
        trace_number=accepted.trace_number,
    )


def _record_refusal(
    funding: FundingTransaction, refusal: InstructionRefused, now: datetime
) -> None:
    sources.note_rejection(source=funding.source, code=refusal.code, now=now)
    lifecycle.move(
        funding=funding,
        target=FundingStatus.FAILED,
        actor=actors.network(funding.network),
        now=now,
        reason=refusal.reason,
        failure_code=refusal.code,
        failure_message=refusal.reason[:300],
    )
    auto_funding.after_outcome(funding=funding, now=now)


DESK = Desk(
    model=FundingTransaction,
    due=_due,
    require_sendable=_require_debitable,
    instruction=_instruction,
    record_acceptance=_record_acceptance,
    record_refusal=_record_refusal,
)
