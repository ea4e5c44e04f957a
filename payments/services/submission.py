"""Handing payments to their network."""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet

from networks.base import Accepted, Instruction, InstructionRefused
from payments.models import Payment
from payments.services import lifecycle, shortage
from payments.services.lifecycle import NETWORK_METHOD
from payments.states import PaymentStatus
from tenants import actors
from tenants.models import TenantStatus
from tenants.switches import SwitchKind, submittable
from transfers import submission
from transfers.submission import Desk


def submit_due(*, now: datetime) -> int:
    """Submit payments that are due; returns how many were claimed."""
    return submission.submit_due(DESK, now=now)


def _due() -> QuerySet[Payment]:
    """A held one, those of a suspended tenant, and what a switch stops, wait for their release."""
    rows = Payment.objects.filter(
        status=PaymentStatus.CREATED, held_at=None, tenant__status=TenantStatus.ACTIVE
    )
    return submittable(rows, kind=SwitchKind.PAYMENTS).select_related("recipient")


def _instruction(payment: Payment) -> Instruction:
    return Instruction(
        id=payment.pk,
        method=NETWORK_METHOD[payment.method],
        amount=payment.amount,
        currency=payment.currency,
        account=payment.recipient.in_clear(),
        description=payment.description,
    )


def _record_acceptance(payment: Payment, accepted: Accepted, now: datetime) -> None:
    lifecycle.move(
        payment=payment,
        target=PaymentStatus.PROCESSING,
        actor=actors.network(payment.network),
        now=now,
        network_reference=accepted.reference,
        trace_number=accepted.trace_number,
    )


def _record_refusal(payment: Payment, refusal: InstructionRefused, now: datetime) -> None:
    lifecycle.move(
        payment=payment,
        target=PaymentStatus.FAILED,
        actor=actors.network(payment.network),
        now=now,
        reason=refusal.reason,
        failure_code=refusal.code,
        failure_message=refusal.reason[:300],
    )


DESK = Desk(
    model=Payment,
    due=_due,
    is_short=shortage.is_short,
    keep_back=shortage.keep_back,
    instruction=_instruction,
    record_acceptance=_record_acceptance,
    record_refusal=_record_refusal,
)
