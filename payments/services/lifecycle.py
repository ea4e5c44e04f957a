"""The life of a payment: the only code that changes its status.

A move is one database transaction: status by compare-and-swap, history row, event to the tenant,
posting. Lock order: the payment row first, the balance row last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from django.db import transaction

from balance import services as ledger
from balance.kinds import PostingType
from balance.operator.posting import Booking
from balance.sets import Entry
from common import ids
from common.engine.wakeups import enqueue_on_commit
from common.state import Step
from networks.base import Speed
from payments import attempts
from payments.attempts import Attempt
from payments.methods import METHODS
from payments.models import SOURCE_TYPE, Payment, PaymentEvent, Recipient
from payments.services import totals
from payments.states import COLUMN_OF, OPEN, PAYMENT_STATES, PaymentStatus
from tenants.actors import Actor
from transfers import books
from transfers.books import Happened
from transfers.inbox import messages
from transfers.rows import HOLD_ENDS
from webhooks import bodies
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
class Move:
    """A payment as it was read, and where it goes. `changes`: columns besides those that every
    move to `target` fills, or in their place. `day`: the banking day that the network named."""

    payment: Payment
    target: PaymentStatus
    actor: Actor
    reason: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict)
    day: date | None = None

    @property
    def event(self) -> str | None:
        """What the tenant is told."""
        return "payment.returned" if self.changes.get("returned") else _EVENT_OF.get(self.target)

    def step(self, now: datetime) -> Step:
        """All that changes in its row."""
        payment, is_due = self.payment, not self.payment.awaits_confirmation
        columns = {
            "history_length": payment.history_length + 1,
            "event_sequence": payment.event_sequence + (self.event is not None),
            "updated_at": now,
            **_entry(self.target, way_of(payment), now, is_due=is_due),
            **self.changes,
        }
        return Step(payment, self.target, columns)


class Way(NamedTuple):
    """How a payment is sent. `amount` is cents."""

    method: str
    network: str
    speed: str
    amount: int

    def expected_on(self, now: datetime) -> date:
        """The banking day on which it has arrived if it is sent now."""
        return METHODS[self.method].expected_on(
            self.network, now, speed=self.speed, amount=self.amount
        )


@dataclass(frozen=True, kw_only=True)
class NewPayment:
    """The terms of a payment that was checked and may start. `amount` is cents."""

    recipient: Recipient
    amount: int
    method: str
    network: str
    speed: str = Speed.STANDARD
    is_automatic: bool = False
    description: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    waits_until: datetime | None = None
    confirm_until: datetime | None = None
    counted_for: Sequence[str] = ()
    id: str = field(default_factory=partial(ids.new, "pay"))


def start(*, terms: NewPayment, status: PaymentStatus, actor: Actor, now: datetime) -> Payment:
    """Create a payment in the caller's transaction: `created`, or `waiting_for_funds`.

    For a waiting one the caller holds the balance row's lock, so that no credit is missed. Raises
    InsufficientBalance for one that does not wait.
    """
    needs_people = terms.confirm_until is not None
    way = Way(terms.method, terms.network, terms.speed, terms.amount)
    payment = Payment.objects.create(
        id=terms.id,
        tenant_id=terms.recipient.tenant_id,
        recipient=terms.recipient,
        amount=terms.amount,
        status=status,
        method=terms.method,
        is_automatic=terms.is_automatic,
        speed=terms.speed,
        network=terms.network,
        created_by_type=actor.type,
        created_by_id=actor.id,
        description=terms.description,
        metadata=terms.metadata,
        waits_until=terms.waits_until,
        requires_confirmation=needs_people,
        confirmation_expires_at=terms.confirm_until,
        counted_for=list(terms.counted_for),
        history_length=1,
        event_sequence=1,
        created_at=now,
        updated_at=now,
        **_entry(status, way, now, is_due=not needs_people),
    )
    history = _history(payment, from_status="", actor=actor, reason="", now=now)
    told = [_told(payment, "payment.created", attempts.of(payment))]
    events.publish_payments(told, now=now, rows=[history])
    _follow_up([(payment, None)], now)
    return payment


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
    step = Move(payment=payment, target=target, actor=actor, reason=reason, changes=changes)
    move_many([step], now=now)


@transaction.atomic
def move_many(moves: Sequence[Move], *, now: datetime) -> None:
    """`move` for many payments, each at most once: all or none.

    Where there are several the caller holds their rows' locks, taken in the order of their ids.
    """
    if not moves:
        return
    sources = [PaymentStatus(each.payment.status) for each in moves]
    PAYMENT_STATES.advance_many([each.step(now) for each in moves])
    tried = attempts.of_many([each.payment for each in moves])
    events.publish_payments(
        [
            _told(each.payment, each.event, tried[each.payment.pk])
            for each in moves
            if each.event is not None
        ],
        now=now,
        rows=[
            _history(
                each.payment, from_status=source, actor=each.actor, reason=each.reason, now=now
            )
            for each, source in zip(moves, sources, strict=True)
        ],
    )
    messages.look_again([each.payment.pk for each in moves], now=now)
    moved = list(zip(moves, sources, strict=True))
    _follow_up(
        [(each.payment, source) for each, source in moved],
        now,
        [line for each in moved for line in _booked(*each)],
    )


def confirm(*, payment: Payment, now: datetime) -> None:
    """Let an approved payment go on: at once, or when there is money for it. The caller has locked
    it."""
    columns: dict[str, Any] = {"confirmed_at": now, "updated_at": now}
    if payment.status == PaymentStatus.CREATED:
        columns |= sending(way_of(payment), now)
    for name, value in columns.items():
        setattr(payment, name, value)
    payment.save(update_fields=columns)
    enqueue_on_commit("payments.submit_due")


def send_another_way(
    payment: Payment, way: Way, *, actor: Actor, reason: str, now: datetime
) -> None:
    """Let a payment that its network refused be sent by `way`; its money stays set aside. The
    caller has locked it and written down the refused try."""
    columns: dict[str, Any] = {
        "method": way.method,
        "network": way.network,
        "tries": payment.tries + 1,
        "network_reference": "",
        "trace_number": "",
        "attempts": 0,
        "processing_at": None,
        "updated_at": now,
        **sending(way, now),
    }
    if payment.status == PaymentStatus.PROCESSING:
        columns["locked_at"] = payment.locked_at
        move(
            payment=payment,
            target=PaymentStatus.CREATED,
            actor=actor,
            now=now,
            reason=reason,
            **columns,
        )
        return
    if payment.awaits_confirmation:
        columns["next_attempt_at"] = None
    for name, value in columns.items():
        setattr(payment, name, value)
    payment.save(update_fields=columns)
    enqueue_on_commit("payments.submit_due")


def way_of(payment: Payment) -> Way:
    """How this payment is sent."""
    return Way(payment.method, payment.network, payment.speed, payment.amount)


def _entry(status: PaymentStatus, way: Way, now: datetime, *, is_due: bool) -> dict[str, Any]:
    """The columns that a payment gets when it enters `status`. Only a `created` payment is due."""
    columns: dict[str, Any] = {COLUMN_OF[status]: now, "next_attempt_at": None}
    columns["held_back_at"] = None
    if status in (PaymentStatus.FAILED, PaymentStatus.CANCELED):
        columns |= HOLD_ENDS
    if status == PaymentStatus.CREATED:
        columns |= sending(way, now) | ({} if is_due else {"next_attempt_at": None})
    if status == PaymentStatus.PROCESSING:
        # Switches and outages may have delayed it for days.
        columns["expected_arrival_date"] = way.expected_on(now)
    return columns


def sending(way: Way, now: datetime) -> dict[str, Any]:
    """The columns of a payment that is to be sent now."""
    return due(now, arrives_on=way.expected_on(now))


def due(now: datetime, *, arrives_on: date) -> dict[str, Any]:
    """The columns of a payment that is to be sent now and arrives on this banking day."""
    return {"next_attempt_at": now, "expected_arrival_date": arrives_on}


def _history(
    payment: Payment, *, from_status: str, actor: Actor, reason: str, now: datetime
) -> PaymentEvent:
    return PaymentEvent(
        payment_id=payment.pk,
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


def _told(payment: Payment, event: str, tried: Sequence[Attempt]) -> events.PaymentEvent:
    data = PaymentData(
        payment_id=payment.pk,
        amount=payment.amount,
        status=payment.status,
        currency=payment.currency,
        direction="out",
        sequence=payment.event_sequence,
        failure_code=payment.failure_code or None,
        return_code=payment.return_code or None,
        network=METHODS.carrier(payment.method, payment.network),
        method=payment.method_asked,
        method_used=str(payment.method),
        attempts=tuple(
            bodies.Attempt(
                number=each.number,
                method=each.method,
                network=each.network,
                outcome=each.outcome.value,
                code=each.code or None,
                started_at=each.started_at,
                ended_at=each.ended_at,
            )
            for each in tried
        ),
    )
    return events.PaymentEvent(tenant_id=payment.tenant_id, type=event, data=data)


def _follow_up(
    moved: Sequence[tuple[Payment, PaymentStatus | None]],
    now: datetime,
    booked: Sequence[Booking] = (),
) -> None:
    """Change the balances as the moves from these statuses demand, with the operator's lines. Last
    in the transaction, because many wait for the balance rows. Asking to be told of money is a step
    before the postings, so that several balances are locked before it."""
    payments = [payment for payment, _ in moved]
    made = [(payment, entry) for payment, source in moved for entry in _entries(payment, source)]
    waiting = {p.tenant_id for p in payments if p.status == PaymentStatus.WAITING_FOR_FUNDS}
    posted = {entry.tenant_id for _, entry in made}
    gone = [payment for payment in payments if totals.is_given_back(payment)]
    unposted = {payment.tenant_id for payment in gone} - posted
    concerned = waiting | posted | unposted
    if (waiting or unposted) and len(concerned) > 1:
        ledger.lock_rows(tenant_ids=concerned)
    elif unposted:
        ledger.lock_row(tenant_id=unposted.pop())
    for tenant_id in waiting:
        ledger.set_notify_rise(tenant_id=tenant_id, wanted=True)
    if any(payment.status == PaymentStatus.CREATED for payment in payments):
        enqueue_on_commit("payments.submit_due")
    postings = ledger.post_all([entry for _, entry in made], booked, now=now)
    for (payment, _), posting in zip(made, postings, strict=True):
        payment.new_posting_ids = [*payment.new_posting_ids, posting.id]
    totals.give_back(gone)


def _booked(move: Move, source: PaymentStatus) -> list[Booking]:
    """The operator's lines of a move from `source` that was made."""
    payment = move.payment
    match payment.status:
        case PaymentStatus.COMPLETED:
            happened = Happened.FINAL
        case PaymentStatus.RETURNED:
            happened = Happened.RETURNED_LATE
        case PaymentStatus.FAILED if payment.returned or payment.settlement_date:
            happened = Happened.RETURNED
        case _:
            return []
    return bookings(payment, happened, move.day)


def bookings(payment: Payment, happened: Happened, day: date | None) -> list[Booking]:
    """The operator's lines of what happened to the money of a payment."""
    return books.bookings(payment, happened, books.OUT, source_type=SOURCE_TYPE, day=day)


def _entries(payment: Payment, source: PaymentStatus | None) -> list[Entry]:
    """The posting that the move from `source` makes, if any."""
    match payment.status:
        case PaymentStatus.CREATED if source == PaymentStatus.PROCESSING:
            return []  # it goes another way with the money that was set aside before
        case PaymentStatus.CREATED:
            kind, description = PostingType.LOCK, "Payment"
        case PaymentStatus.COMPLETED:
            kind, description = PostingType.SETTLEMENT, "Payment completed"
        case PaymentStatus.RETURNED:
            kind, description = PostingType.CREDIT, f"Payment returned {payment.return_code}"
        case PaymentStatus.FAILED | PaymentStatus.CANCELED if source in OPEN:
            kind, description = PostingType.UNLOCK, f"Payment {payment.status}"
        case _:
            return []
    tenant_id, amount = payment.tenant_id, payment.amount
    return [Entry(kind, tenant_id, amount, SOURCE_TYPE, payment.pk, description)]
