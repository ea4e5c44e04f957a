"""Lets a sandbox tenant play its bank: moves its payments by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


def _watch(tenant_id: str, now: datetime) -> Callable[[], Iterator[Transition]]:
    """Prepare to report what moved."""
    history = PaymentEvent.objects.filter(payment__tenant_id=tenant_id)
    return partial(due.transitions, history, of="payment_id", since=now)


PART = due.Part(run=_run_due, watch=_watch)
