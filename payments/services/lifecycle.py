"""The life of a payment: the only code that changes its status.

A move is one database transaction: status by compare-and-swap, history row, event to the tenant,
posting. Lock order: the payment row first, the balance row last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Any

from django.db import transaction

from balance import services as ledger
from balance.posting import Posting
from common import ids
from common.engine.wakeups import enqueue_on_commit
from payments.methods import METHODS
from payments.models import SOURCE_TYPE, Payment, PaymentEvent, Recipient
from payments.states import COLUMN_OF, OPEN, PAYMENT_STATES, PaymentStatus
from tenants.actors import Actor
from transfers.inbox import messages
from transfers.rows import HOLD_ENDS
from webhooks.bodies import PaymentData
from webhooks.services import events

_EVENT_OF = MappingProxyType[str, str](
    {
        PaymentStatus.PROCESSING: "payment.processing",
        PaymentStatus.COMPLETED: "payment.completed",
        PaymentStatus.FAILED: "payment.failed",
        PaymentStatus.RETURNED: "payment.returned",
        PaymentStatus.CANCELED: "payment.failed",
    }
)


@dataclass(frozen=True, kw_only=True)
class NewPayment:
    """The terms of a payment that was checked and may start. `amount` is cents."""

    recipient: Recipient
    amount: int
    method: str
    network: str
    description: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    waits_until: datetime | None = None
    confirm_until: datetime | None = None
    id: str = field(default_factory=partial(ids.new, "pay"))


def start(*, terms: NewPayment, status: PaymentStatus, actor: Actor, now: datetime) -> Payment:
    """Create a payment in the caller's transaction: `created`, or `waiting_for_funds`.

    For a waiting one the caller holds the balance row's lock, so that no credit is missed. Raises
    InsufficientBalance for one that does not wait.
    """
    needs_people = terms.confirm_until is not None
    payment = Payment.objects.create(
        id=terms.id,
        tenant_id=terms.recipient.tenant_id,
        recipient=terms.recipient,
        amount=terms.amount,
        status=status,
        method=terms.method,
        network=terms.network,
        created_by_type=actor.type,
        created_by_id=actor.id,
        description=terms.description,
        metadata=terms.metadata,
        waits_until=terms.waits_until,
        requires_confirmation=needs_people,
        confirmation_expires_at=terms.confirm_until,
        history_length=1,
        event_sequence=1,
        created_at=now,
        updated_at=now,
        **_entry(status, terms.method, terms.network, now, is_due=not needs_people),
    )
    _write_history(payment, from_status="", actor=actor, reason="", now=now)
    _publish(payment, "payment.created", now)
    _follow_up(payment, source=None, now=now)
    return payment


@transaction.atomic
def move(
    *,
    payment: Payment,
    target: PaymentStatus,
    actor: Actor,
    now: datetime,
    reason: str = "",
    **changes: Any,
) -> None:
    """Take `payment` to `target` with everything that goes with it.

    Raises IllegalTransition, and changes nothing, when its status is no longer what was read or the
    machine has no such move. Raises InsufficientBalance when available does not cover a waiting
    one.
    """
    source = PaymentStatus(payment.status)
    waits_for_people = payment.awaits_confirmation
    event = "payment.returned" if changes.get("returned") else _EVENT_OF.get(target)
    PAYMENT_STATES.advance(
        payment,
        target,
        history_length=payment.history_length + 1,
        event_sequence=payment.event_sequence + (event is not None),
        updated_at=now,
        **{
            **_entry(target, payment.method, payment.network, now, is_due=not waits_for_people),
            **changes,
        },
    )
    _write_history(payment, from_status=source, actor=actor, reason=reason, now=now)
    if event is not None:
        _publish(payment, event, now)
    messages.look_again(payment.pk, now=now)
    _follow_up(payment, source=source, now=now)


def confirm(*, payment: Payment, now: datetime) -> None:
    """Let an approved payment go on: at once, or when there is money for it. The caller has locked
    it."""
    columns: dict[str, Any] = {"confirmed_at": now, "updated_at": now}
    if payment.status == PaymentStatus.CREATED:
        columns |= sending(payment.method, payment.network, now)
    for name, value in columns.items():
        setattr(payment, name, value)
    payment.save(update_fields=columns)
    enqueue_on_commit("payments.submit_due")


def _entry(
    status: PaymentStatus, method: str, network: str, now: datetime, *, is_due: bool
) -> dict[str, Any]:
    """The columns that a payment gets when it enters `status`. Only a `created` payment is due."""
    columns: dict[str, Any] = {COLUMN_OF[status]: now, "next_attempt_at": None}
    columns["held_back_at"] = None
    if status in (PaymentStatus.FAILED, PaymentStatus.CANCELED):
        columns |= HOLD_ENDS
    if status == PaymentStatus.CREATED:
        columns |= sending(method, network, now) | ({} if is_due else {"next_attempt_at": None})
    if status == PaymentStatus.PROCESSING:
        # Switches and outages may have delayed it for days.
        columns["expected_arrival_date"] = METHODS[method].expected_on(network, now)
    return columns


def sending(method: str, network: str, now: datetime) -> dict[str, Any]:
    """The columns of a payment that is to be sent now."""
    return {
        "next_attempt_at": now,
        "expected_arrival_date": METHODS[method].expected_on(network, now),
    }


def _write_history(
    payment: Payment, *, from_status: str, actor: Actor, reason: str, now: datetime
) -> None:
    PaymentEvent.objects.create(
        payment=payment,
        sequence=payment.history_length,
        from_status=from_status,
        to_status=payment.status,
        actor_type=actor.type,
        actor_id=actor.id,
        reason=reason[:300],
        network_reference=payment.network_reference,
        account_id=payment.recipient_id,
        created_at=now,
    )


def _publish(payment: Payment, event: str, now: datetime) -> None:
    events.publish_payment(
        tenant_id=payment.tenant_id,
        type=event,
        data=PaymentData(
            payment_id=payment.pk,
            amount=payment.amount,
            status=payment.status,
            currency=payment.currency,
            direction="out",
            sequence=payment.event_sequence,
            failure_code=payment.failure_code or None,
            return_code=payment.return_code or None,
        ),
        now=now,
    )


def _follow_up(payment: Payment, *, source: PaymentStatus | None, now: datetime) -> None:
    """Change the balance as the move demands. Last in the transaction, because many wait for the
    balance row."""
    match payment.status:
        case PaymentStatus.WAITING_FOR_FUNDS:
            ledger.set_notify_rise(tenant_id=payment.tenant_id, wanted=True)
        case PaymentStatus.CREATED:
            enqueue_on_commit("payments.submit_due")
            _post(payment, ledger.lock, "Payment", now)
        case PaymentStatus.COMPLETED:
            _post(payment, ledger.settle, "Payment completed", now)
        case PaymentStatus.RETURNED:
            _post(payment, ledger.credit, f"Payment returned {payment.return_code}", now)
        case PaymentStatus.FAILED | PaymentStatus.CANCELED if source in OPEN:
            _post(payment, ledger.unlock, f"Payment {payment.status}", now)


def _post(payment: Payment, post: Callable[..., Posting], description: str, now: datetime) -> None:
    posting = post(
        tenant_id=payment.tenant_id,
        amount=payment.amount,
        source_type=SOURCE_TYPE,
        source_id=payment.pk,
        description=description,
        now=now,
    )
    payment.new_posting_ids = [*payment.new_posting_ids, posting.id]
