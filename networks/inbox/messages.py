"""What the networks told us, applied: each message at most once.

A message that cannot be right (another amount, a status that does not allow it) changes nothing
and is kept for review. One that comes too early (the submission's own result is not recorded yet)
waits. Which rows messages are about, and what they do to them, an `Inbox` says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

import structlog
from django.db import InterfaceError, OperationalError, models, transaction
from django.db.models import QuerySet

from networks import return_codes
from networks.base import EventKind
from networks.inbox import arrivals
from networks.inbox.models import InboundEvent, InboundOutcome

log = structlog.get_logger(__name__)

WAITS_AT_MOST = timedelta(hours=1)
# After these, a message that we cannot digest goes to a person.
RETRY_AFTER = tuple(timedelta(seconds=seconds) for seconds in (5, 30, 120, 600, 3600))


Row = TypeVar("Row", bound=models.Model)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Where a kind of message moves a row, by its status; where it comes too early.

    A move to the same status only notes the message.
    """

    moves: Mapping[str, str]
    too_early_in: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Inbox(Generic[Row]):
    """One app's share of the messages: those about ids with its prefix.

    Rows are `Leased` and have `network`, `amount`, `currency` and `status`. `lock(id)` returns one,
    locked until the end of the transaction. `move(row, target, event, now)` is called for what the
    rules allow. `noun` names a row in the notes for staff.
    """

    id_prefix: str
    noun: str
    rules: Mapping[EventKind, Rule]
    lock: Callable[[str], Row | None]
    move: Callable[[Row, str, InboundEvent, datetime], None]

    def __post_init__(self) -> None:
        arrivals.expect(self.id_prefix)

    def waiting(self) -> QuerySet[InboundEvent]:
        return InboundEvent.objects.filter(
            outcome=InboundOutcome.NEW, instruction_id__startswith=self.id_prefix
        )


def process(inbox: Inbox[Row], *, now: datetime) -> int:
    """Collect and apply everything the networks have; returns how many messages were applied."""
    arrivals.collect_all(id_prefix=inbox.id_prefix, now=now)
    return apply_new(inbox, now=now)


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
    event.note = f"failed {event.attempts} times: {error}"[:200]
    if event.attempts > len(RETRY_AFTER):
        _close(event, InboundOutcome.REVIEW, event.note, now)
    else:
        event.next_attempt_at = now + RETRY_AFTER[event.attempts - 1]
    event.save(update_fields=("attempts", "note", "next_attempt_at"))


def _judge(inbox: Inbox[Row], row: Any, event: InboundEvent, now: datetime) -> bool:
    """Move `row`, leave the message for later, or put it aside."""
    source, rule = row.status, inbox.rules[EventKind(event.kind)]
    if _must_wait(inbox, row, event, now):
        return _put_off(event, now)
    if (target := rule.moves.get(source)) is None:
        return _close(event, InboundOutcome.REVIEW, f"{inbox.noun} is {source}", now)
    if target != source:
        inbox.move(row, target, event, now)
    return _close(event, InboundOutcome.APPLIED, "", now)


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
    kinds = [kind for kind, rule in inbox.rules.items() if status in rule.moves]
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
    event.save(update_fields=("outcome", "note", "decided_at", "next_attempt_at"))
    if outcome == InboundOutcome.REVIEW:
        log.warning("network_event_for_review", event_id=event.pk, note=note)
    return outcome == InboundOutcome.APPLIED
