"""An automatic payment goes another way, once the network that it went by has refused it.

The first network has said for certain that no money moved and none will. So the payment is ready to
be sent again, as if it had been made for the other network: the same id, the same money that is set
aside, the same limits and approvals. What holds for any payment that is to be sent holds for it:
switches, closed routes, a suspended tenant and a balance below zero keep it (decision 0221).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from networks.refusals import CANNOT_TAKE_IT
from payments import automatic
from payments.models import Payment, PaymentAttempt
from payments.services import left_payments, lifecycle
from payments.services.lifecycle import Way
from payments.states import PaymentStatus
from tenants.actors import Actor
from tenants.services import audit

ACTION = "payment.rerouted"
_LEFT_TO_US = (PaymentStatus.CREATED, PaymentStatus.PROCESSING)


def next_way(payment: Payment, code: str) -> Way | None:
    """How `payment`, which the caller has locked, goes on after its network refused it with this
    code. None where it ends: nobody left the method to us, another network would refuse it as well,
    money may have moved, staff hold it, or no other network takes it now."""
    may_go_on = (
        payment.is_automatic
        and code in CANNOT_TAKE_IT
        and payment.status in _LEFT_TO_US
        and payment.settlement_date is None
        and payment.held_at is None
    )
    if not may_go_on:
        return None
    mode, amount = payment.tenant.mode, payment.amount
    for method in automatic.after(payment.method, mode=mode, amount=amount):
        network = method.network(mode)
        # A network knows a payment by its id, so that it would take it for the refused one.
        if network is not None and network.name != payment.network:
            return Way(method.name, network.name, payment.speed, amount)
    return None


def go_on(
    payment: Payment, way: Way, *, code: str, reason: str, actor: Actor, now: datetime
) -> None:
    """Write down the refused try, and let the payment be sent by `way`: all of it in the caller's
    transaction, which has locked the payment."""
    refused = PaymentAttempt(
        payment=payment,
        number=payment.tries,
        method=payment.method,
        network=payment.network,
        network_reference=payment.network_reference,
        code=code,
        reason=reason[:300],
        sent_at=payment.processing_at,
        ended_at=now,
    )
    refused.save(force_insert=True)
    lifecycle.send_another_way(payment, way, actor=actor, reason=f"{code}: {reason}", now=now)
    _record(refused, way, actor, now)
    left_payments.settle_kept_back(payment, now)


def _record(refused: PaymentAttempt, way: Way, actor: Actor, now: datetime) -> None:
    payment = refused.payment
    details: dict[str, Any] = {
        "amount": payment.amount,
        "direction": "out",
        "bankName": payment.recipient.bank_name,
        "last4": payment.recipient.last4,
        "before": str(refused.method),
        "method": way.method,
        "code": refused.code,
    }
    audit.record(
        tenant_id=payment.tenant_id,
        actor=actor,
        action=ACTION,
        subject_id=payment.pk,
        details=details,
        now=now,
    )
