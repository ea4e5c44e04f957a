"""Applies the networks' messages, each at most once, many at a time where they are plain (`sets`).

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
from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction

from common.database_clock import judged
from networks import return_codes
from networks.base import EventKind
from tenants import actors
from tenants.actors import Actor
from transfers.contract import MessageHandler, Subject
from transfers.inbox import arrivals, judging, sets
from transfers.inbox.models import InboundEvent, InboundOutcome

log = structlog.get_logger(__name__)

# After this many messages a run makes room for other work; the next one goes on.
RUN_MAX = 1_000
# After so many failures to apply a message, a person looks at it.
RETRY_AFTER = tuple(timedelta(seconds=seconds) for seconds in (5, 30, 120, 600, 3600))
KNOWN_BEFORE = "known before, by a message that implied it or by hand"


def actor_of(event: InboundEvent) -> Actor:
    """The actor of what the message does: the network, or the member of staff who approved it by
    hand."""
    return actors.staff(event.by_hand) if event.by_hand else actors.network(event.network)


@judged
def process(handler: MessageHandler[Subject], *, now: datetime) -> int:
    """Collect and apply everything the networks have; returns how many messages were applied."""
    arrivals.collect_all(id_prefix=handler.id_prefix, now=now)
    return apply_new(handler, now=now)


def run(handler: MessageHandler[Subject], *, now: datetime) -> bool:
    """One run of the sweep; returns whether so much was applied that there may be more."""
    return process(handler, now=now) > RUN_MAX // 2


@judged
def apply_new(handler: MessageHandler[Subject], *, now: datetime, limit: int = RUN_MAX) -> int:
    """Apply stored messages in the order of arrival, those about one row each by itself; returns
    how many were applied.

    A message that has to wait goes to the end of the queue, so that many of them do not stop the
    rest.
    """
    due = judging.waiting(handler).filter(next_attempt_at__lte=now)
    first = due.order_by("next_attempt_at", "pk").values_list("pk", "instruction_id")[:limit]
    queue = [sets.Queued(*row) for row in first]
    size = settings.NETWORK_MESSAGES_PER_SET if handler.in_sets else 1
    if size == 1:
        return _apply_each(handler, [queued.event_id for queued in queue], now)
    return sum(_apply_together(handler, ids, now) for ids in sets.split(queue, size=size))


@transaction.atomic
def apply(handler: MessageHandler[Subject], *, event_id: int, now: datetime) -> bool:
    """Apply one stored message; True when its row allowed it."""
    event = judging.waiting(handler).select_for_update(skip_locked=True).filter(pk=event_id).first()
    if event is None:  # another worker has it
        return False
    row = handler.lock(event.instruction_id)
    if row is None:
        return _close(event, InboundOutcome.REVIEW, f"no such {handler.noun}", now)
    if objection := judging.objection(event, row, handler.noun):
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


def _apply_together(handler: MessageHandler[Subject], event_ids: list[int], now: datetime) -> int:
    """Apply messages about different rows at once, then what is not plain one by one.

    One that cannot be digested undoes its set, and is found by trying halves of it. Where it is
    the database's trouble, such as a balance that is locked for too long, no half waits again.
    """
    try:
        applied, left = sets.apply(handler, event_ids, now=now)
    except Exception as error:
        log.exception("network_events_undone", count=len(event_ids))
        half = len(event_ids) // 2
        if half == 0 or isinstance(error, OperationalError | InterfaceError):
            return _apply_each(handler, event_ids, now)
        parts = event_ids[:half], event_ids[half:]
        return sum(_apply_together(handler, part, now) for part in parts)
    return applied + _apply_each(handler, left, now)


def _apply_each(handler: MessageHandler[Subject], event_ids: list[int], now: datetime) -> int:
    return sum(_apply_safely(handler, event_id, now) for event_id in event_ids)


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
    event = judging.waiting(handler).select_for_update(skip_locked=True).filter(pk=event_id).first()
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
    others = judging.others([event])[event.instruction_id]
    if judging.must_wait(handler, row, event, others, now):
        return _put_off(event, now)
    return apply_to(handler, row, event, now)


def apply_to(
    handler: MessageHandler[Subject], row: Any, event: InboundEvent, now: datetime
) -> bool:
    """Apply a message that waits for nothing to its row, which the caller has locked.

    Returns whether it was applied; if not, a person looks at it.
    """
    verdict = judging.verdict(handler, row, event)
    sets.carry_out(handler, [verdict], now=now)
    if verdict.target is None:
        return _note_or_refuse(handler, row, event, now)
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
