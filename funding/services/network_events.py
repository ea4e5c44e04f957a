"""What a message of a network does to a funding."""

from __future__ import annotations

from datetime import datetime

from common import leases
from funding.models import FundingTransaction
from funding.services import auto_funding, lifecycle, notices, sources
from funding.states import FundingStatus
from networks.base import EventKind
from transfers.inbox import messages
from transfers.inbox.messages import Inbox, Rule
from transfers.inbox.models import InboundEvent
from transfers.submission import RETRY_AFTER

S = FundingStatus

RULES = {
    EventKind.ACCEPTED: Rule(
        moves={S.PENDING: S.IN_TRANSIT},
        too_early_in=frozenset({S.RESERVED}),
    ),
    EventKind.SETTLED: Rule(
        moves={S.IN_TRANSIT: S.COMPLETED},
        too_early_in=frozenset({S.RESERVED}),
        implies={S.PENDING: S.IN_TRANSIT},
    ),
    EventKind.REJECTED: Rule(
        moves={S.PENDING: S.FAILED, S.IN_TRANSIT: S.FAILED},
        too_early_in=frozenset({S.RESERVED}),
    ),
    EventKind.RETURNED: Rule(
        moves={S.IN_TRANSIT: S.FAILED, S.COMPLETED: S.FAILED},
        too_early_in=frozenset({S.RESERVED}),
        implies={S.PENDING: S.IN_TRANSIT},
    ),
}


def process(*, now: datetime) -> int:
    """Collect and apply everything the networks have; returns how many messages were applied."""
    return messages.process(INBOX, now=now)


def _lock(funding_id: str) -> FundingTransaction | None:
    rows = FundingTransaction.objects.select_for_update(no_key=True, of=("self",))
    return rows.select_related("source").filter(pk=funding_id).first()


def _move(funding: FundingTransaction, target: str, event: InboundEvent, now: datetime) -> None:
    # Before the move, which takes the balance row: a removal locks source, then balance.
    if event.kind == EventKind.RETURNED:
        sources.note_return(source=funding.source, return_code=event.code, now=now)
    elif event.kind == EventKind.REJECTED:
        sources.note_rejection(source=funding.source, code=event.code, now=now)
    lifecycle.move(
        funding=funding,
        target=FundingStatus(target),
        actor=messages.actor_of(event),
        now=now,
        reason=event.reason,
        **messages.failure_columns(event, now=now),
    )
    if funding.returned:
        notices.returned(funding=funding, now=now)
    if funding.status in {S.COMPLETED, S.FAILED}:
        auto_funding.after_outcome(funding=funding, now=now)


def _imply_acceptance(
    funding: FundingTransaction, target: str, event: InboundEvent, now: datetime
) -> None:
    """No bank settles or returns what it did not accept, even where it never said so."""
    lifecycle.move(
        funding=funding,
        target=FundingStatus(target),
        actor=messages.actor_of(event),
        now=now,
        reason=f"implied by {event.kind}",
    )


def _knows(funding: FundingTransaction, kind: EventKind) -> bool:
    return kind == EventKind.ACCEPTED and funding.in_transit_at is not None


def _is_unanswered(funding: FundingTransaction) -> bool:
    """Tried for longer than any call lasts, and the network never said whether it has it."""
    return funding.status == S.RESERVED and funding.attempts > len(RETRY_AFTER)


def _take_over(funding: FundingTransaction, event: InboundEvent, now: datetime) -> None:
    """The bank has it, so people say: record what the lost answer would have said. Whoever still
    holds the lease cannot record anything, and nobody is given it again."""
    leases.settle(funding)
    lifecycle.move(
        funding=funding,
        target=S.PENDING,
        actor=messages.actor_of(event),
        now=now,
        reason=event.reason,
        network_reference=event.reference,
    )


INBOX = Inbox(
    id_prefix="ftx_",
    noun="funding",
    rules=RULES,
    lock=_lock,
    move=_move,
    imply=_imply_acceptance,
    knows=_knows,
    is_unanswered=_is_unanswered,
    take_over=_take_over,
)
