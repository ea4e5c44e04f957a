"""Staff stop a payment before it leaves, and let it go again. Both are audited."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from payments.errors import NotHoldable
from payments.models import Payment
from tenants.actors import Actor
from tenants.services import audit


@transaction.atomic
def hold(*, payment_id: str, reason: str, actor: Actor, now: datetime) -> None:
    """Keep a payment that no network has seen where it is. Repeatable. Raises NotHoldable."""
    payment = Payment.objects.select_for_update(no_key=True).get(pk=payment_id)
    if payment.held_at is not None:
        return
    if not payment.is_unsent:
        raise NotHoldable(f"{payment.pk} is {payment.status}.")
    _set(payment, "payment.held", actor, now, held_at=now, reason=reason)


@transaction.atomic
def release(*, payment_id: str, actor: Actor, now: datetime) -> None:
    """Let a held payment go on. Repeatable; the sweep takes it up."""
    payment = Payment.objects.select_for_update(no_key=True).get(pk=payment_id)
    if payment.held_at is not None:
        _set(payment, "payment.released", actor, now, held_at=None, reason="")


def _set(
    payment: Payment,
    action: str,
    actor: Actor,
    now: datetime,
    *,
    held_at: datetime | None,
    reason: str,
) -> None:
    payment.held_at, payment.hold_reason, payment.updated_at = held_at, reason, now
    payment.save(update_fields=("held_at", "hold_reason", "updated_at"))
    audit.record(
        tenant_id=payment.tenant_id,
        actor=actor,
        action=action,
        subject_id=payment.pk,
        details={"reason": reason} if reason else None,
        now=now,
    )
