"""The life of a funding transaction: the only code that changes its status.

A move is one database transaction: status by compare-and-swap, history row, pending balance and
posting, event to the tenant. Lock order: the funding row first, the balance row last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from typing import Any

from django.db import transaction

from balance import services as ledger
from balance.kinds import PostingType
from balance.operator.posting import Booking
from balance.sets import Entry
from common import ids
from common.engine.transactions import before_commit
from common.engine.wakeups import enqueue_on_commit
from common.state import Step
from funding.agreements import Agreement
from funding.methods import METHODS
from funding.models import (
    SOURCE_TYPE,
    FundingEvent,
    FundingMethod,
    FundingTransaction,
    Trigger,
)
from funding.states import FUNDING_STATES, IN_FLIGHT, FundingStatus
from networks.base import Speed
from tenants.actors import Actor
from transfers import books
from transfers.books import Happened
from transfers.inbox import messages
from transfers.rows import HOLD_ENDS
from webhooks.bodies import PaymentData
from webhooks.services import events

_EVENT_OF = {
    FundingStatus.PENDING: "payment.processing",
    FundingStatus.COMPLETED: "payment.completed",
    FundingStatus.FAILED: "payment.failed",
}


@dataclass(frozen=True, kw_only=True)
class Move:
    """A funding as it was read, and where it goes. `changes`: columns besides those that every
    move to `target` fills. `day`: the banking day that the network named."""

    funding: FundingTransaction
    target: FundingStatus
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
        funding = self.funding
        columns = {
            "history_length": funding.history_length + 1,
            "event_sequence": funding.event_sequence + (self.event is not None),
            "updated_at": now,
            f"{self.target}_at": now,
            **_entry(funding, self.target, now),
            **self.changes,
        }
        return Step(funding, self.target, columns)


@dataclass(frozen=True, kw_only=True)
class TopUp:
    """What is asked for. `amount` is cents; `id` will be that of the funding; `agreement` is what
    the account holder agreed to for it; `retry_of` the returned funding that it tries again;
    `speed` counts where the network offers it."""

    source_id: str
    amount: int
    method: str = FundingMethod.ACH_DEBIT
    description: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    trigger: Trigger = Trigger.TOPUP
    agreement: Agreement | None = None
    retry_of: str | None = None
    speed: str = Speed.STANDARD
    id: str = field(default_factory=partial(ids.new, "ftx"))


def start(
    topup: TopUp,
    *,
    tenant_id: str,
    network: str,
    confirm_until: datetime | None,
    actor: Actor,
    now: datetime,
) -> FundingTransaction:
    """Create a funding that was checked, in the caller's transaction: `reserved`, or
    `awaiting_confirmation` when `confirm_until` is set. Its amount counts as pending once the
    transaction ends."""
    waits = confirm_until is not None
    status = FundingStatus.AWAITING_CONFIRMATION if waits else FundingStatus.RESERVED
    funding = FundingTransaction(
        id=topup.id,
        tenant_id=tenant_id,
        source_id=topup.source_id,
        amount=topup.amount,
        status=status,
        method=topup.method,
        speed=topup.speed,
        trigger=topup.trigger,
        created_by_type=actor.type,
        created_by_id=actor.id,
        description=topup.description,
        metadata=topup.metadata,
        retry_of_id=topup.retry_of,
        requires_confirmation=waits,
        confirmation_expires_at=confirm_until,
        expected_availability_date=METHODS[topup.method].expected_on(
            network, now, speed=topup.speed, amount=topup.amount
        ),
        network=network,
        next_attempt_at=None if waits else now,
        history_length=1,
        event_sequence=1,
        created_at=now,
        updated_at=now,
        **{f"{status}_at": now},
    )
    history = _history(funding, from_status="", actor=actor, reason="", now=now)
    told = _told(funding, "payment.created")
    events.publish_payment(
        tenant_id=tenant_id, type=told.type, data=told.data, now=now, rows=(funding, history)
    )
    before_commit(partial(ledger.change_pending, tenant_id=funding.tenant_id, delta=funding.amount))
    if not waits:
        enqueue_on_commit("funding.submit_due")
    return funding


def move(
    *,
    funding: FundingTransaction,
    target: FundingStatus,
    actor: Actor,
    now: datetime,
    reason: str = "",
    **changes: Any,
) -> None:
    """Take `funding` to `target` with everything that goes with it.

    Raises IllegalTransition, and changes nothing, when its status is no longer what was read or
    the machine has no such move.
    """
    step = Move(funding=funding, target=target, actor=actor, reason=reason, changes=changes)
    move_many([step], now=now)


@transaction.atomic
def move_many(moves: Sequence[Move], *, now: datetime) -> None:
    """`move` for many fundings, each at most once: all or none.

    Where there are several the caller holds their rows' locks, taken in the order of their ids.
    """
    if not moves:
        return
    sources = [FundingStatus(each.funding.status) for each in moves]
    FUNDING_STATES.advance_many([each.step(now) for each in moves])
    happened = [_told(each.funding, each.event) for each in moves if each.event is not None]
    events.publish_payments(
        happened,
        now=now,
        rows=[
            _history(
                each.funding, from_status=source, actor=each.actor, reason=each.reason, now=now
            )
            for each, source in zip(moves, sources, strict=True)
        ],
    )
    messages.look_again([each.funding.pk for each in moves], now=now)
    _post(list(zip(moves, sources, strict=True)), now=now)


def _entry(funding: FundingTransaction, target: FundingStatus, now: datetime) -> dict[str, Any]:
    """The columns that a funding gets when it enters `target`."""
    if target == FundingStatus.FAILED:
        return dict(HOLD_ENDS)
    if target == FundingStatus.PENDING:
        # Switches and outages may have delayed it for days.
        return {"expected_availability_date": expected_on(funding, now)}
    return {}


def expected_on(funding: FundingTransaction, now: datetime) -> date:
    """The banking day on which its money can be relied on if it is handed over now."""
    return METHODS[funding.method].expected_on(
        funding.network, now, speed=funding.speed, amount=funding.amount
    )


def _history(
    funding: FundingTransaction, *, from_status: str, actor: Actor, reason: str, now: datetime
) -> FundingEvent:
    return FundingEvent(
        funding_id=funding.pk,
        sequence=funding.history_length,
        from_status=from_status,
        to_status=funding.status,
        actor_type=actor.type,
        actor_id=actor.id,
        reason=reason[:300],
        network_reference=funding.network_reference,
        account_id=funding.source_id,
        created_at=now,
    )


def _told(funding: FundingTransaction, event: str) -> events.PaymentEvent:
    data = PaymentData(
        payment_id=funding.pk,
        amount=funding.amount,
        status=funding.status,
        currency=funding.currency,
        direction="in",
        sequence=funding.event_sequence,
        failure_code=funding.failure_code or None,
        return_code=funding.return_code or None,
        network=METHODS.carrier(funding.method, funding.network),
    )
    return events.PaymentEvent(tenant_id=funding.tenant_id, type=event, data=data)


def _post(moved: Sequence[tuple[Move, FundingStatus]], *, now: datetime) -> None:
    """Change the balances and the operator's books as the moves from these statuses demand. Last in
    the transaction, because many wait for the balance rows. What gives up pending money is a second
    step after the postings, so that several balances are locked before the first one."""
    entries = [entry for each, source in moved for entry in _entries(each.funding, source)]
    booked = [line for each in moved for line in _booked(*each)]
    fundings = [(each.funding, source) for each, source in moved]
    given_up = [
        funding
        for funding, source in fundings
        if funding.status == FundingStatus.FAILED and source in IN_FLIGHT
    ]
    concerned = {entry.tenant_id for entry in entries} | {each.tenant_id for each in given_up}
    if given_up and len(concerned) > 1:
        ledger.lock_rows(tenant_ids=concerned)
    ledger.post_all(entries, booked, now=now)
    for funding in given_up:
        ledger.change_pending(tenant_id=funding.tenant_id, delta=-funding.amount)
    automatic = {
        funding.tenant_id
        for funding, _ in fundings
        if funding.trigger == Trigger.AUTO_FUNDING and funding.status not in IN_FLIGHT
    }
    if automatic:
        ledger.look_at_low_again(*automatic, now=now)


def _booked(move: Move, source: FundingStatus) -> list[Booking]:
    """The operator's lines of a move from `source` that was made."""
    funding = move.funding
    if funding.status == FundingStatus.COMPLETED:
        happened = Happened.FINAL
    elif source == FundingStatus.COMPLETED:
        happened = Happened.RETURNED_LATE
    elif funding.status == FundingStatus.FAILED and (funding.returned or funding.settlement_date):
        happened = Happened.RETURNED
    else:
        return []
    return bookings(funding, happened, move.day)


def bookings(funding: FundingTransaction, happened: Happened, day: date | None) -> list[Booking]:
    """The operator's lines of what happened to the money of a funding."""
    return books.bookings(funding, happened, books.IN, source_type=SOURCE_TYPE, day=day)


def _entries(funding: FundingTransaction, source: FundingStatus) -> list[Entry]:
    """The posting that the move from `source` makes, if any."""
    if funding.status == FundingStatus.COMPLETED:
        kind, description, pending = PostingType.CREDIT, "Funding completed", -funding.amount
    elif source == FundingStatus.COMPLETED:
        kind, description, pending = PostingType.DEBIT, f"Funding returned {funding.return_code}", 0
    else:
        return []
    tenant_id, amount = funding.tenant_id, funding.amount
    return [Entry(kind, tenant_id, amount, SOURCE_TYPE, funding.pk, description, pending)]
