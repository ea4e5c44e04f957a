"""Messages about many rows, applied in one transaction (decision 0139).

Only what is plain is in a set: a message that fits its row, that moves it now, and that nobody
objects to. Whatever is not falls out, holds up nobody, and is applied by itself afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import transaction

from transfers.contract import Effect, MessageHandler, Subject
from transfers.inbox import judging
from transfers.inbox.judging import Others, Verdict
from transfers.inbox.models import InboundEvent, InboundOutcome


class Queued(NamedTuple):
    """A message that is due, and the id of the row that it is about."""

    event_id: int
    row_id: str


class Outcome(NamedTuple):
    """How many messages were applied, and which are left, in the order given."""

    applied: int
    left: list[int]


def split(queue: Sequence[Queued], *, size: int) -> Iterator[list[int]]:
    """Sets of at most `size` messages in the order of the queue. A row is in a set once: its next
    message comes in the next one, so that the order of its messages is kept."""
    while queue:
        chosen: dict[str, int] = {}
        rest = []
        for queued in queue:
            if queued.row_id in chosen or len(chosen) == size:
                rest.append(queued)
            else:
                chosen[queued.row_id] = queued.event_id
        yield list(chosen.values())
        queue = rest


@transaction.atomic
def apply(handler: MessageHandler[Subject], event_ids: Sequence[int], *, now: datetime) -> Outcome:
    """Apply those of these messages, each about another row, that are plain.

    Nothing in it waits for a message or a row that somebody else has in hand. Whatever it raises
    undoes all of it.
    """
    due = judging.waiting(handler).filter(pk__in=event_ids).order_by("pk")
    events = list(due.select_for_update(skip_locked=True))
    rows = handler.lock_many([event.instruction_id for event in events])
    others = judging.others(events)
    verdicts = [
        judging.verdict(handler, rows[event.instruction_id], event)
        for event in events
        if event.instruction_id in rows and event.kind in handler.in_sets
    ]
    plain = [each for each in verdicts if _is_plain(handler, each, others, now)]
    carry_out(handler, plain, now=now)
    applied = _close({each.event.pk for each in plain}, now)
    taken = {event.pk for event in events}
    return Outcome(len(applied), [pk for pk in event_ids if pk in taken - applied])


def carry_out(
    handler: MessageHandler[Subject], verdicts: Sequence[Verdict], *, now: datetime
) -> None:
    """Make the moves of messages about different rows, the implied ones first."""
    implied = [Effect(v.row, v.implied, v.event) for v in verdicts if v.implied is not None]
    moved = [Effect(v.row, v.target, v.event) for v in verdicts if v.target and v.moves]
    if implied:
        handler.imply(implied, now)
    if moved:
        handler.apply(moved, now)


def _is_plain(
    handler: MessageHandler[Subject], each: Verdict, others: dict[str, Others], now: datetime
) -> bool:
    """Whether nothing speaks against applying it with others. What broke before is tried alone."""
    row, event = each.row, each.event
    return (
        each.target is not None
        and event.attempts == 0
        and not judging.objection(event, row, handler.noun)
        and not judging.must_wait(handler, row, event, others[event.instruction_id], now)
    )


def _close(event_ids: set[int], now: datetime) -> set[int]:
    rows = InboundEvent.objects.filter(pk__in=event_ids)
    rows.update(outcome=InboundOutcome.APPLIED, note="", decided_at=now, next_attempt_at=None)
    return event_ids
