"""What must hold between funding, the ledger and the outbox: funding's part of `check_ledger`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import F, Q
from django.db.models.functions import Now

from approvals.models import Decision
from balance.findings import Finding, Scope
from balance.movements import Movements
from funding.models import Confirmation, FundingEvent, FundingTransaction
from funding.services.lifecycle import SOURCE_TYPE
from funding.states import FUNDING_STATES, IN_FLIGHT, FundingStatus
from webhooks.models import WebhookEvent

MOVEMENTS = Movements(
    name="funding",
    table=FundingTransaction._meta.db_table,
    history=FundingEvent._meta.db_table,
    foreign_key="funding_id",
    outbox=WebhookEvent._meta.db_table,
    source_type=SOURCE_TYPE,
    states=FUNDING_STATES,
    total="pending",
    open_statuses=IN_FLIGHT,
    # Completed: one credit. Returned after completion: a credit and a debit. Otherwise: nothing.
    postings="""CASE
        WHEN movement.status = 'completed' THEN ARRAY['credit']
        WHEN movement.status = 'failed' AND movement.completed_at IS NOT NULL
            THEN ARRAY['credit', 'debit']
        ELSE ARRAY[]::text[] END""",
    events="""CASE
        WHEN step.sequence = 1 THEN 'payment.created'
        WHEN step.to_status = 'pending' THEN 'payment.processing'
        WHEN step.to_status = 'completed' THEN 'payment.completed'
        WHEN step.to_status = 'failed' AND movement.returned THEN 'payment.returned'
        WHEN step.to_status = 'failed' THEN 'payment.failed' END""",
)


def check_confirmations(scope: Scope) -> Iterator[Finding]:
    """A funding awaits confirmation exactly while its question is open, and on the same terms."""
    is_open = Q(decision=Decision.OPEN)
    awaits = Q(funding__status=FundingStatus.AWAITING_CONFIRMATION)
    same_terms = Q(amount=F("funding__amount"), source=F("funding__source"))
    questions = Confirmation.objects.filter(is_open & ~awaits | ~is_open & awaits | ~same_terms)
    unasked = FundingTransaction.objects.none()
    if scope.full:
        unasked = FundingTransaction.objects.filter(
            status=FundingStatus.AWAITING_CONFIRMATION, confirmation=None
        )
    else:
        # Open ones have no date: both halves find their rows in the index on it.
        yesterday = Now() - timedelta(days=1)
        questions = questions.filter(Q(decided_at=None) | Q(decided_at__gt=yesterday))
    if scope.tenant_id is not None:
        questions = questions.filter(tenant_id=scope.tenant_id)
        unasked = unasked.filter(tenant_id=scope.tenant_id)
    for question in questions.select_related("funding"):
        yield _finding(
            question.funding, f"is {question.funding.status}, {question.pk} is {question.decision}"
        )
    for funding in unasked:
        yield _finding(funding, "awaits confirmation, but nobody was asked")


def _finding(funding: FundingTransaction, message: str) -> Finding:
    return Finding(
        code="funding_confirmation",
        tenant_id=funding.tenant_id,
        subject=funding.pk,
        message=message,
    )
