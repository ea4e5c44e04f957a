"""Applies the networks' messages, each at most once.

A message that cannot be right (another amount, a status that does not allow it) changes nothing and
is put aside for a person. One that comes too early (before the answer to the submission is
recorded) waits. One that implies a step that no message reported (a settlement: that it was
accepted) makes that step first. A message that was put aside because of its row's status is judged
again once the row has moved. The `MessageHandler` of an app says which rows messages are about, and
what they do to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import QuerySet

from common.database_clock import judged
from networks import return_codes
from networks.base import EventKind
from tenants import actors
from tenants.actors import Actor
from transfers.contract import MessageHandler, Subject
from transfers.inbox import arrivals
from transfers.inbox.models import InboundEvent, InboundOutcome

log = structlog.get_logger(__name__)

WAITS_AT_MOST = timedelta(hours=1)
# After so many failures to apply a message, a person looks at it.
RETRY_AFTER = tuple(timedelta(seconds=seconds) for seconds in (5, 30, 120, 600, 3600))
KNOWN_BEFORE = "known before, by a message that implied it or by hand"


def waiting(handler: MessageHandler[Any]) -> QuerySet[InboundEvent]:
    """Messages about the handler's rows that are not applied yet."""
    return InboundEvent.objects.filter(
        outcome=InboundOutcome.NEW, instruction_id__startswith=handler.id_prefix
    )


def actor_of(event: InboundEvent) -> Actor:
    """The actor of what the message does: the network, or the member of staff who approved it by
    hand."""
    return actors.staff(event.by_hand) if event.by_hand else actors.network(event.network)


@judged
def process(handler: MessageHandler[Subject], *, now: datetime) -> int:
    """Collect and apply everything the networks have; returns how many messages were applied."""
    arrivals.collect_all(id_prefix=handler.id_prefix, now=now)
    return apply_new(handler, now=now)


@judged
def apply_new(handler: MessageHandler[Subject], *, now: datetime, limit: int = 1000) -> int:
    """Apply stored messages in the order of arrival, each in a transaction of its own.

    A message that has to wait goes to the end of the queue, so that many of them do not stop the
    rest.
    """
    due = waiting(handler).filter(next_attempt_at__lte=now).order_by("next_attempt_at", "pk")
    ids = list(due.values_list("pk", flat=True)[:limit])
    return sum(_apply_safely(handler, event_id, now) for event_id in ids)


@transaction.atomic
def apply(handler: MessageHandler[Subject], *, event_id: int, now: datetime) -> bool:
    """Apply one stored message; True when its row allowed it."""
    event = waiting(handler).select_for_update(skip_locked=True).filter(pk=event_id).first()
    if event is None:  # another worker has it
        return False
    row = handler.lock(event.instruction_id)
    if row is None:
        return _close(event, InboundOutcome.REVIEW, f"no such {handler.noun}", now)
    if objection := _objection(event, row, handler.noun):
        return _close(event, InboundOutcome.REVIEW, objection, now)
    return _judge(handler, row, event, now)


def look_again(row_ids: Sequence[str], *, now: datetime) -> int:
    """Judge again what was put aside because of the rows' statuses, after the rows have moved;
    returns how many messages that were."""
    refused = InboundEvent.objects.filter(instruction_id__in=row_ids, outcome=InboundOutcome.REVIEW)
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


def _apply_safely(handler: MessageHandler[Subject], event_id: int, now: datetime) -> bool:
    """Apply one message. An error is noted on it, so that the other messages are not held up."""
    try:
        return apply(handler, event_id=event_id, now=now)
    except (OperationalError, InterfaceError):  # the database's trouble, not the message's
        log.exception("network_event_interrupted", event_id=event_id)
    except Exception as error:
        log.exception("network_event_failed", event_id=event_id)
        _note_failure(handler, event_id, type(error).__name__, now)
    return False


@transaction.atomic
def _note_failure(
    handler: MessageHandler[Subject], event_id: int, error: str, now: datetime
) -> None:
    """Note the error and try again later; after the last try a person has to look."""
    event = waiting(handler).select_for_update(skip_locked=True).filter(pk=event_id).first()
    if event is None:
        return
    event.attempts += 1
    event.note = f"could not be applied, {event.attempts} tries: {error}"[:200]
    if event.attempts > len(RETRY_AFTER):
        _close(event, InboundOutcome.REVIEW, event.note, now)
    else:
        event.next_attempt_at = now + RETRY_AFTER[event.attempts - 1]
    event.save(update_fields=("attempts", "note", "next_attempt_at"))


def _judge(handler: MessageHandler[Subject], row: Any, event: InboundEvent, now: datetime) -> bool:
    """Apply the message to `row`, leave it for later, or put it aside; returns whether it was
    applied."""
    if _must_wait(handler, row, event, now):
        return _put_off(event, now)
    return apply_to(handler, row, event, now)


def apply_to(
    handler: MessageHandler[Subject], row: Any, event: InboundEvent, now: datetime
) -> bool:
    """Apply a message that waits for nothing to its row, which the caller has locked.

    Returns whether it was applied; if not, a person looks at it.
    """
    source, rule = row.status, handler.rules[EventKind(event.kind)]
    if (implied := rule.implies.get(source)) is not None:
        handler.imply(row, implied, event, now)
        source = implied
    if (target := rule.moves.get(source)) is None:
        return _note_or_refuse(handler, row, event, now)
    if target != source:
        handler.apply(row, target, event, now)
    return _close(event, InboundOutcome.APPLIED, "", now)


def _note_or_refuse(
    handler: MessageHandler[Subject], row: Any, event: InboundEvent, now: datetime
) -> bool:
    """Note the first message that says what another one already implied; put others aside for a
    person."""
    applied = InboundEvent.objects.filter(
        instruction_id=event.instruction_id, kind=event.kind, outcome=InboundOutcome.APPLIED
    )
    is_known = handler.knows(row, EventKind(event.kind)) or applied.exclude(by_hand="").exists()
    if is_known and not applied.filter(by_hand="").exists():
        return _close(event, InboundOutcome.APPLIED, KNOWN_BEFORE, now)
    event.refused_in = str(row.status)
    words = row.get_status_display().lower()
    return _close(event, InboundOutcome.REVIEW, f'{handler.noun} is "{words}"', now)


def _must_wait(
    handler: MessageHandler[Subject], row: Any, event: InboundEvent, now: datetime
) -> bool:
    """Whether the message has to wait: for an older message that another worker is applying or, if
    it comes too early, for whatever would make it fit.

    A settlement and the return after it may fit the same status, so only their order says which is
    first.
    """
    first = _applicable(handler, event, row.status)
    if row.status not in handler.rules[EventKind(event.kind)].too_early_in:
        return _is_young(event, now) and first.filter(pk__lt=event.pk).exists()
    return _is_young(event, now) or _answer_is_unknown(row) or first.exists()


def _applicable(
    handler: MessageHandler[Subject], event: InboundEvent, status: str
) -> QuerySet[InboundEvent]:
    """Other messages about the row of `event` that would move it now."""
    kinds = [kind for kind, rule in handler.rules.items() if rule.moves_from(status)]
    others = InboundEvent.objects.filter(instruction_id=event.instruction_id).exclude(pk=event.pk)
    return others.filter(outcome=InboundOutcome.NEW, kind__in=kinds)


def _answer_is_unknown(row: Any) -> bool:
    """Whether the network may have the row although no answer is recorded. Then it is submitted
    again under the same id, which tells. A switch or a suspension may delay that for long."""
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
