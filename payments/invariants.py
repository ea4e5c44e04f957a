"""What must hold between payments, the ledger and the outbox: their part of `check_ledger`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import F, Q
from django.db.models.functions import Now

from approvals.models import Decision
from balance.findings import Finding, Scope
from balance.movements import Movements
from payments.models import Payment, PaymentConfirmation, PaymentEvent
from payments.services.lifecycle import SOURCE_TYPE
from payments.states import OPEN, PAYMENT_STATES, PaymentStatus
from webhooks.models import WebhookEvent

MOVEMENTS = Movements(
    name="payment",
    table=Payment._meta.db_table,
    history=PaymentEvent._meta.db_table,
    foreign_key="payment_id",
    outbox=WebhookEvent._meta.db_table,
    source_type=SOURCE_TYPE,
    states=PAYMENT_STATES,
    total="locked",
    open_statuses=OPEN,
    # Locked once it has been `created`; then settled, or unlocked, and a return gives it back.
    postings="""CASE
        WHEN movement.locked_at IS NULL THEN ARRAY[]::text[]
        WHEN movement.status IN ('created', 'processing') THEN ARRAY['lock']
        WHEN movement.status = 'completed' THEN ARRAY['lock', 'settlement']
        WHEN movement.status = 'returned' THEN ARRAY['lock', 'settlement', 'credit']
        ELSE ARRAY['lock', 'unlock'] END""",
    events="""CASE
        WHEN step.sequence = 1 THEN 'payment.created'
        WHEN step.to_status = 'processing' THEN 'payment.processing'
        WHEN step.to_status = 'completed' THEN 'payment.completed'
        WHEN step.to_status = 'returned' THEN 'payment.returned'
        WHEN step.to_status = 'failed' AND movement.returned THEN 'payment.returned'
        WHEN step.to_status IN ('failed', 'canceled') THEN 'payment.failed' END""",
)


def check_confirmations(scope: Scope) -> Iterator[Finding]:
    """A payment waits for people exactly while its question is open, and on the same terms.

    A confirmed one was approved. Whoever requires confirmation was asked about.
    """
    is_open, approved = Q(decision=Decision.OPEN), Q(decision=Decision.APPROVED)
    unsent = (PaymentStatus.WAITING_FOR_FUNDS, PaymentStatus.CREATED)
    awaits = Q(payment__confirmed_at=None, payment__status__in=unsent)
    confirmed = Q(payment__confirmed_at__isnull=False)
    questions = PaymentConfirmation.objects.filter(
        is_open & ~awaits
        | ~is_open & awaits
        | approved & ~confirmed
        | ~approved & confirmed
        | ~Q(amount=F("payment__amount"))
    )
    unasked = Payment.objects.none()
    if scope.full:
        unasked = Payment.objects.filter(requires_confirmation=True, confirmation=None)
    else:
        questions = questions.filter(is_open | Q(decided_at__gt=Now() - timedelta(days=1)))
    if scope.tenant_id is not None:
        questions = questions.filter(tenant_id=scope.tenant_id)
        unasked = unasked.filter(tenant_id=scope.tenant_id)
    for question in questions.select_related("payment"):
        yield _finding(
            question.payment, f"is {question.payment.status}, {question.pk} is {question.decision}"
        )
    for payment in unasked:
        yield _finding(payment, "requires confirmation, but nobody was asked")


def _finding(payment: Payment, message: str) -> Finding:
    return Finding(
        code="payment_confirmation",
        tenant_id=payment.tenant_id,
        subject=payment.pk,
        message=message,
    )
