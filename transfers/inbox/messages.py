"""What the networks told us, applied: each message at most once.

A message that cannot be right (another amount, a status that does not allow it) changes nothing
and is kept for review. One that comes too early (the submission's own result is not recorded yet)
waits. One that implies what no message said (a settlement: that it was accepted) makes that move
first. What waits for a person because of its row's status is looked at again once the row moves.
Which rows messages are about, and what they do to them, an `Inbox` says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

import structlog
from django.db import InterfaceError, OperationalError, models, transaction
from django.db.models import QuerySet

from common.database_clock import judged
from networks import return_codes
from networks.base import EventKind
from tenants import actors
from tenants.actors import Actor
from transfers.inbox import arrivals
from transfers.inbox.models import InboundEvent, InboundOutcome

log = structlog.get_logger(__name__)

WAITS_AT_MOST = timedelta(hours=1)
# After these, a message that we cannot digest goes to a person.
RETRY_AFTER = tuple(timedelta(seconds=seconds) for seconds in (5, 30, 120, 600, 3600))
KNOWN_BEFORE = "known before, by a message that implied it or by hand"


Row = TypeVar("Row", bound=models.Model)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Where a kind of message moves a row, by its status; where it comes too early.

    A move to the same status only notes the message. `implies`: in a status that lacks a step, the
    one that the message implies; the message moves on from there.
    """

    moves: Mapping[str, str]
    too_early_in: frozenset[str]
    implies: Mapping[str, str] = field(default_factory=dict)

    def moves_from(self, status: str) -> bool:
        """Whether the message would move a row in this status."""
        return status in self.moves or status in self.implies


def _implies_nothing(row: Any, target: str, event: InboundEvent, now: datetime) -> None:
    raise NotImplementedError(f"{event.kind} implies nothing about {row.pk}")


def _is_never_unanswered(_row: Any) -> bool:
    return False


def _takes_nothing_over(row: Any, event: InboundEvent, now: datetime) -> None:
    raise NotImplementedError(f"{event.kind} by hand of {row.pk}, which was not handed over")


def _knows_nothing(_row: Any, _kind: EventKind) -> bool:
    return False


@dataclass(frozen=True, kw_only=True)
class Inbox(Generic[Row]):
    """One app's share of the messages: those about ids with its prefix.

    Rows are `Leased` and have `network`, `amount`, `currency` and `status`. `lock(id)` returns one,
    locked until the end of the transaction. `move(row, target, event, now)` is called for what the
    rules allow, `imply` with the same arguments for what they imply. `knows(row, kind)`: an
    earlier move implied what such a message says, so that the first one is noted and moves nothing.
    `noun` names a row in the notes for staff. `is_unanswered`: it was handed over, perhaps, and
    nobody can tell; `take_over` then records what people found out, so that it is never handed over
    again.
    """

    id_prefix: str
    noun: str
    rules: Mapping[EventKind, Rule]
    lock: Callable[[str], Row | None]
    move: Callable[[Row, str, InboundEvent, datetime], None]
    imply: Callable[[Row, str, InboundEvent, datetime], None] = _implies_nothing
    knows: Callable[[Row, EventKind], bool] = _knows_nothing
    is_unanswered: Callable[[Row], bool] = _is_never_unanswered
    take_over: Callable[[Row, InboundEvent, datetime], None] = _takes_nothing_over

    def __post_init__(self) -> None:
        arrivals.expect(self.id_prefix)
        _inboxes.setdefault(self.id_prefix, self)

    def waiting(self) -> QuerySet[InboundEvent]:
        return InboundEvent.objects.filter(
            outcome=InboundOutcome.NEW, instruction_id__startswith=self.id_prefix
        )


_inboxes: dict[str, Inbox[Any]] = {}


def inbox_of(row_id: str) -> Inbox[Any] | None:
    """Whose a row of this id is; None for an id that nobody knows."""
    return next((inbox for prefix, inbox in _inboxes.items() if row_id.startswith(prefix)), None)


def actor_of(event: InboundEvent) -> Actor:
    """Who says it: the network, or the member of staff who vouches for what the bank told us."""
    return actors.staff(event.by_hand) if event.by_hand else actors.network(event.network)


@judged
def process(inbox: Inbox[Row], *, now: datetime) -> int:
    """Collect and apply everything the networks have; returns how many messages were applied."""
    arrivals.collect_all(id_prefix=inbox.id_prefix, now=now)
    return apply_new(inbox, now=now)


@judged
def apply_new(inbox: Inbox[Row], *, now: datetime, limit: int = 1000) -> int:
    """Apply stored messages in the order of arrival, each in a transaction of its own.

    One that has to wait goes to the end of the queue, so that no number of them stops the rest.
    """
    due = inbox.waiting().filter(next_attempt_at__lte=now).order_by("next_attempt_at", "pk")
    ids = list(due.values_list("pk", flat=True)[:limit])
    return sum(_apply_safely(inbox, event_id, now) for event_id in ids)


@transaction.atomic
def apply(inbox: Inbox[Row], *, event_id: int, now: datetime) -> bool:
    """Apply one stored message; True when its row allowed it."""
    event = inbox.waiting().select_for_update(skip_locked=True).filter(pk=event_id).first()
    if event is None:  # another worker has it
        return False
    row = inbox.lock(event.instruction_id)
    if row is None:
        return _close(event, InboundOutcome.REVIEW, f"no such {inbox.noun}", now)
    if objection := _objection(event, row, inbox.noun):
        return _close(event, InboundOutcome.REVIEW, objection, now)
    return _judge(inbox, row, event, now)


def look_again(row_id: str, *, now: datetime) -> int:
    """A row has moved: what its status kept for a person is judged once more; returns how many."""
    refused = InboundEvent.objects.filter(instruction_id=row_id, outcome=InboundOutcome.REVIEW)
    return refused.exclude(refused_in="").update(
        outcome=InboundOutcome.NEW, next_attempt_at=now, decided_at=None
    )


def failure_columns(event: InboundEvent, *, now: datetime) -> dict[str, object]:
    """The columns that a failing message fills, in the words of the return-code table."""
    if event.kind not in {EventKind.REJECTED, EventKind.RETURNED}:
        return {}
    known = return_codes.lookup(event.code)
    failure: dict[str, object] = {
        "failure_code": event.code,
        "failure_message": f"{known.meaning} {known.advice}"[:300],
    }
    if event.kind == EventKind.RETURNED:
        failure |= {
            "returned": True,
            "return_code": event.code,
            "return_reason": known.title,
            "returned_at": now,
        }
    return failure


def _apply_safely(inbox: Inbox[Row], event_id: int, now: datetime) -> bool:
    """One message we cannot digest must not hold up the others."""
    try:
        return apply(inbox, event_id=event_id, now=now)
    except (OperationalError, InterfaceError):  # the database's trouble, not the message's
        log.exception("network_event_interrupted", event_id=event_id)
    except Exception as error:
        log.exception("network_event_failed", event_id=event_id)
        _note_failure(inbox, event_id, type(error).__name__, now)
    return False


@transaction.atomic
def _note_failure(inbox: Inbox[Row], event_id: int, error: str, now: datetime) -> None:
    """Try again later; after the last time a person must look."""
    event = inbox.waiting().select_for_update(skip_locked=True).filter(pk=event_id).first()
    if event is None:
        return
    event.attempts += 1
    event.note = f"could not be applied, {event.attempts} tries: {error}"[:200]
    if event.attempts > len(RETRY_AFTER):
        _close(event, InboundOutcome.REVIEW, event.note, now)
    else:
        event.next_attempt_at = now + RETRY_AFTER[event.attempts - 1]
    event.save(update_fields=("attempts", "note", "next_attempt_at"))


def _judge(inbox: Inbox[Row], row: Any, event: InboundEvent, now: datetime) -> bool:
    """Move `row`, leave the message for later, or put it aside."""
    if _must_wait(inbox, row, event, now):
        return _put_off(event, now)
    return apply_to(inbox, row, event, now)


def apply_to(inbox: Inbox[Row], row: Any, event: InboundEvent, now: datetime) -> bool:
    """Apply a message that waits for nothing to its row, which the caller has locked.

    Returns whether it was applied; if not, a person looks at it.
    """
    source, rule = row.status, inbox.rules[EventKind(event.kind)]
    if (implied := rule.implies.get(source)) is not None:
        inbox.imply(row, implied, event, now)
        source = implied
    if (target := rule.moves.get(source)) is None:
        return _note_or_refuse(inbox, row, event, now)
    if target != source:
        inbox.move(row, target, event, now)
    return _close(event, InboundOutcome.APPLIED, "", now)


def _note_or_refuse(inbox: Inbox[Row], row: Any, event: InboundEvent, now: datetime) -> bool:
    """Note the first message that says what a later one implied; leave others to a person."""
    applied = InboundEvent.objects.filter(
        instruction_id=event.instruction_id, kind=event.kind, outcome=InboundOutcome.APPLIED
    )
    is_known = inbox.knows(row, EventKind(event.kind)) or applied.exclude(by_hand="").exists()
    if is_known and not applied.filter(by_hand="").exists():
        return _close(event, InboundOutcome.APPLIED, KNOWN_BEFORE, now)
    event.refused_in = str(row.status)
    words = row.get_status_display().lower()
    return _close(event, InboundOutcome.REVIEW, f'{inbox.noun} is "{words}"', now)


def _must_wait(inbox: Inbox[Row], row: Any, event: InboundEvent, now: datetime) -> bool:
    """Whether something comes first: an older message that another worker has in hand, or, for one
    that is too early, whatever would make it fit.

    A settlement and the return after it may apply to one status; only order tells which is first.
    """
    first = _applicable(inbox, event, row.status)
    if row.status not in inbox.rules[EventKind(event.kind)].too_early_in:
        return _is_young(event, now) and first.filter(pk__lt=event.pk).exists()
    return _is_young(event, now) or _answer_is_unknown(row) or first.exists()


def _applicable(inbox: Inbox[Row], event: InboundEvent, status: str) -> QuerySet[InboundEvent]:
    """Other messages about the row of `event` that would move it now."""
    kinds = [kind for kind, rule in inbox.rules.items() if rule.moves_from(status)]
    others = InboundEvent.objects.filter(instruction_id=event.instruction_id).exclude(pk=event.pk)
    return others.filter(outcome=InboundOutcome.NEW, kind__in=kinds)


def _answer_is_unknown(row: Any) -> bool:
    """Whether the network may have the row without our having noted it: submitted again, with the
    same id, it says so. Switches and suspensions may put that off for long."""
    return row.attempts > 0 and row.next_attempt_at is not None


def _is_young(event: InboundEvent, now: datetime) -> bool:
    return now - event.received_at < WAITS_AT_MOST


def _objection(event: InboundEvent, row: Any, noun: str) -> str:
    """Why the message cannot be about this row, or an empty string."""
    if event.network != row.network:
        return f"another network's {noun}"
    if (event.amount, event.currency) != (row.amount, row.currency):
        return "another amount or currency"
    return ""


def _put_off(event: InboundEvent, now: datetime) -> bool:
    event.next_attempt_at = now
    event.save(update_fields=("next_attempt_at",))
    return False


def _close(event: InboundEvent, outcome: InboundOutcome, note: str, now: datetime) -> bool:
    event.outcome, event.note, event.decided_at = outcome, note[:200], now
    event.next_attempt_at = None
    event.save(update_fields=("outcome", "note", "decided_at", "next_attempt_at", "refused_in"))
    if outcome == InboundOutcome.REVIEW:
        log.warning("network_event_for_review", event_id=event.pk, note=note)
    return outcome == InboundOutcome.APPLIED
