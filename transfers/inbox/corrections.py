"""Applies notifications of change, each once, whatever has become of the money.

The message has no account data (`networks.base.EventKind.CORRECTED`): its network is asked for
them, outside any transaction, and then the account is corrected in one (`transfers.corrections`).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import transaction

from common import sweeps
from networks import registry
from networks.base import Correction, CorrectionOutcome, EventKind, NetworkUnavailable
from transfers.contract import MessageHandler
from transfers.corrections import NeedsAPerson
from transfers.inbox import judging
from transfers.inbox.models import InboundEvent, InboundOutcome

log = structlog.get_logger(__name__)

RUN_MAX = 200
ASK_AGAIN_AFTER = timedelta(minutes=10)
# After so many failures that are not the network's, a person looks at it.
TRIES_MAX = 5


def apply_new(handler: MessageHandler[Any], *, now: datetime) -> int:
    """Apply what is due, oldest first; returns how many were applied."""
    due = judging.waiting(handler).filter(kind=EventKind.CORRECTED, next_attempt_at__lte=now)
    ids = due.order_by("next_attempt_at", "pk").values_list("pk", flat=True)[:RUN_MAX]
    applied = sum(_apply_safely(handler, event_id, now) for event_id in list(ids))
    answer_due(handler, now=now)
    return applied


def answer_due(handler: MessageHandler[Any], *, now: datetime) -> int:
    """Tell networks what became of their corrections; returns how many were told. Not inside a
    transaction. Who dies after the call says it again."""
    rows = InboundEvent.objects.filter(
        answer_due_at__lte=now, instruction_id__startswith=handler.id_prefix
    )
    due = list(rows.order_by("answer_due_at", "pk")[:RUN_MAX])
    return sweeps.each(due, lambda event: _answer(event, now), failure="correction_not_answered")


def _answer(event: InboundEvent, now: datetime) -> bool:
    mine = InboundEvent.objects.filter(pk=event.pk, answer_due_at=event.answer_due_at)
    network = registry.find(event.network)
    try:
        if network is None:
            raise NetworkUnavailable(f"{event.network} is not connected")
        outcome, note = _became(event)
        network.corrected(event.event_id, outcome=outcome, note=note, now=now)
    except NetworkUnavailable:
        mine.update(answer_due_at=now + ASK_AGAIN_AFTER)
        return False
    return bool(mine.update(answer_due_at=None))


def _became(event: InboundEvent) -> tuple[CorrectionOutcome, str]:
    """What became of a correction, in words that hold no account data."""
    if event.outcome == InboundOutcome.RESOLVED:
        return CorrectionOutcome.RESOLVED, event.resolution
    if event.outcome == InboundOutcome.APPLIED:
        outcome = CorrectionOutcome.UNCHANGED if event.note else CorrectionOutcome.APPLIED
        return outcome, event.note
    return CorrectionOutcome.REVIEW, event.note


def _apply_safely(handler: MessageHandler[Any], event_id: int, now: datetime) -> bool:
    """Apply one. An error is noted on it, so that the others are not held up."""
    try:
        said = _ask(InboundEvent.objects.get(pk=event_id))
        return _apply(handler, event_id, said, now)
    except NetworkUnavailable:
        _put_off(handler, event_id, now)
    except Exception as error:
        log.exception("network_event_failed", event_id=event_id)
        _put_off(handler, event_id, now, error=type(error).__name__)
    return False


def _ask(event: InboundEvent) -> Correction | None:
    """What its network knows of it. Raises NetworkUnavailable."""
    network = registry.find(event.network)
    if network is None:
        raise NetworkUnavailable(f"{event.network} is not connected")
    return network.correction(event.event_id)


@transaction.atomic
def _apply(
    handler: MessageHandler[Any], event_id: int, said: Correction | None, now: datetime
) -> bool:
    event = _taken(handler, event_id)
    if event is None:
        return False
    row = handler.lock(event.instruction_id)
    if row is None:
        return _close(event, InboundOutcome.REVIEW, f"no such {handler.noun}", now)
    if objection := judging.mismatch(handler, event, row):
        return _close(event, InboundOutcome.REVIEW, objection, now)
    try:
        note = handler.correct(row, event, said, now)
    except NeedsAPerson as why:
        return _close(event, InboundOutcome.REVIEW, str(why), now)
    return _close(event, InboundOutcome.APPLIED, note, now)


@transaction.atomic
def _put_off(handler: MessageHandler[Any], event_id: int, now: datetime, error: str = "") -> None:
    """Try again later. After the last try that failed for a reason of ours a person looks at it."""
    event = _taken(handler, event_id)
    if event is None:
        return
    event.attempts += bool(error)
    note = f"could not be applied, {event.attempts} tries: {error}" if error else ""
    if event.attempts >= TRIES_MAX:
        _close(event, InboundOutcome.REVIEW, note, now)
    else:
        event.next_attempt_at, event.note = now + ASK_AGAIN_AFTER, note[:200]
    event.save(update_fields=("attempts", "next_attempt_at", "note"))


def _taken(handler: MessageHandler[Any], event_id: int) -> InboundEvent | None:
    """The message, locked, unless somebody else has it or it does not wait any more."""
    waiting = judging.waiting(handler).filter(pk=event_id)
    return waiting.select_for_update(skip_locked=True).first()


def _close(event: InboundEvent, outcome: InboundOutcome, note: str, now: datetime) -> bool:
    event.outcome, event.note, event.decided_at = outcome, note[:200], now
    event.next_attempt_at, event.answer_due_at = None, now
    event.save(update_fields=("outcome", "note", "decided_at", "next_attempt_at", "answer_due_at"))
    if outcome == InboundOutcome.REVIEW:
        log.warning("network_event_for_review", event_id=event.pk, note=note)
    return outcome == InboundOutcome.APPLIED
