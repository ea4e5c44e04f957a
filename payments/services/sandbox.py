"""Lets a sandbox tenant play its bank: moves its payments by hand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import partial

from payments import selectors
from payments.models import Payment, PaymentEvent
from payments.services import approvals, waiting
from payments.transfer import PAYMENTS
from transfers import submission
from transfers.inbox import messages
from transfers.sandbox import due, steps
from transfers.sandbox.due import Transition


def step(*, tenant_id: str, payment_id: str, name: str, now: datetime) -> Payment:
    """Make the sandbox bank do `name` now, and apply it. Not inside a transaction.

    Raises NotFound, SandboxRefused.
    """
    payment = selectors.payment(tenant_id=tenant_id, payment_id=payment_id)
    steps.take(name, PAYMENTS, payment, now=now)
    return selectors.payment(tenant_id=tenant_id, payment_id=payment_id)


def _run_due(now: datetime) -> int:
    queue = approvals.sweep(now=now) + waiting.expire_due(now=now) + waiting.run_due(now=now)
    return queue + submission.submit_due(PAYMENTS, now=now) + messages.process(PAYMENTS, now=now)


def _transitions(tenant_id: str, since: datetime) -> Iterator[Transition]:
    steps_made = PaymentEvent.objects.filter(payment__tenant_id=tenant_id, created_at__gte=since)
    for row in steps_made.order_by("created_at", "sequence"):
        yield Transition(
            id=row.payment_id,
            from_status=row.from_status,
            to_status=row.to_status,
            at=row.created_at,
        )


PART = due.Part(run=_run_due, watch=lambda tenant_id, now: partial(_transitions, tenant_id, now))
