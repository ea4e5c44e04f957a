"""What a message of a network does to a payment."""

from __future__ import annotations

from datetime import datetime

from networks.base import EventKind
from payments.models import Payment
from payments.services import lifecycle
from payments.states import PaymentStatus
from transfers.inbox import messages
from transfers.inbox.messages import Inbox, Rule
from transfers.inbox.models import InboundEvent

S = PaymentStatus

UNSENT = frozenset({S.CREATED})  # the answer to the submission is not recorded yet
RULES = {
    EventKind.ACCEPTED: Rule(moves={S.PROCESSING: S.PROCESSING}, too_early_in=UNSENT),
    EventKind.SETTLED: Rule(moves={S.PROCESSING: S.COMPLETED}, too_early_in=UNSENT),
    EventKind.REJECTED: Rule(moves={S.PROCESSING: S.FAILED}, too_early_in=UNSENT),
    EventKind.RETURNED: Rule(
        moves={S.PROCESSING: S.FAILED, S.COMPLETED: S.RETURNED}, too_early_in=UNSENT
    ),
}


def process(*, now: datetime) -> int:
    """Collect and apply everything the networks have; returns how many messages were applied."""
    return messages.process(INBOX, now=now)


def _lock(payment_id: str) -> Payment | None:
    rows = Payment.objects.select_for_update(no_key=True, of=("self",))
    return rows.select_related("recipient").filter(pk=payment_id).first()


def _move(payment: Payment, target: str, event: InboundEvent, now: datetime) -> None:
    lifecycle.move(
        payment=payment,
        target=PaymentStatus(target),
        actor=messages.actor_of(event),
        now=now,
        reason=event.reason,
        **messages.failure_columns(event, now=now),
    )


def _knows(payment: Payment, kind: EventKind) -> bool:
    return kind == EventKind.ACCEPTED and payment.completed_at is not None


INBOX = Inbox(id_prefix="pay_", noun="payment", rules=RULES, lock=_lock, move=_move, knows=_knows)
