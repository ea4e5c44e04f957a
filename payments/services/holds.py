"""Payments that staff hold for a look (`transfers.holds` says what that means)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from common.engine.wakeups import enqueue_on_commit
from payments.models import Payment
from payments.services import approvals, lifecycle
from payments.states import PaymentStatus
from tenants.actors import Actor
from transfers import holds
from transfers.holds import FAILURE_CODE, Shelf


def hold(*, payment_id: str, reason: str, actor: Actor, now: datetime) -> None:
    """Keep a payment that no network has seen where it is. Raises NotHoldable, ReasonNeeded."""
    holds.hold(SHELF, payment_id, reason=reason, actor=actor, now=now)


def release(*, payment_id: str, reason: str, actor: Actor, now: datetime) -> None:
    """Let a held payment go on. Raises ReasonNeeded."""
    holds.release(SHELF, payment_id, reason=reason, actor=actor, now=now)


def stop(*, payment_id: str, reason: str, actor: Actor, now: datetime) -> None:
    """Fail a held payment; its money is available again. Raises NotHeld, ReasonNeeded."""
    holds.stop(SHELF, payment_id, reason=reason, actor=actor, now=now)


def _lock(payment_id: str) -> Payment:
    rows = Payment.objects.select_for_update(no_key=True, of=("self",))
    return rows.select_related("recipient").get(pk=payment_id)


def _end(payment: Payment, actor: Actor, message: str, now: datetime) -> None:
    approvals.supersede(payment=payment, by=actor, now=now)
    lifecycle.move(
        payment=payment,
        target=PaymentStatus.FAILED,
        actor=actor,
        now=now,
        reason=message,
        failure_code=FAILURE_CODE,
        failure_message=message,
    )


def _on_release(payment: Payment, now: datetime) -> Mapping[str, Any]:
    """One that waited for money could not run meanwhile, so it gets that time back."""
    if payment.status != PaymentStatus.WAITING_FOR_FUNDS:
        enqueue_on_commit("payments.submit_due")
        is_due = payment.next_attempt_at is not None
        return lifecycle.sending(payment.method, now) if is_due else {}
    enqueue_on_commit("payments.run_waiting", tenant_id=payment.tenant_id)
    if payment.waits_until is None or payment.held_at is None:
        raise ValueError(f"{payment.pk} is not held while it waits")
    return {"waits_until": payment.waits_until + (now - payment.held_at)}


SHELF = Shelf(
    noun="payment",
    lock=_lock,
    is_unsent=lambda payment: payment.is_unsent,
    account=lambda payment: payment.recipient,
    end=_end,
    on_release=_on_release,
)
