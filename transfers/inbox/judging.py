"""What is to be done about a message, by its row and what else is said of that row.

It only reads. `messages` applies what is judged one by one, `sets` many at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Min, QuerySet

from common.engine.lookups import one_of
from networks.base import EventKind
from transfers.contract import MessageHandler
from transfers.inbox.models import MEANING, InboundEvent, InboundOutcome

WAITS_AT_MOST = timedelta(hours=1)

# For each kind of the other messages about a row that are not applied yet, the number of the first.
Others = Mapping[str, int]


class Verdict(NamedTuple):
    """Where a message takes its row, past `implied` where its rule says so; `target` is None where
    the row's status allows nothing."""

    row: Any
    event: InboundEvent
    implied: str | None
    target: str | None

    @property
    def moves(self) -> bool:
        """Whether the message itself does: otherwise it is only noted, or goes to a person."""
        return self.target not in (None, self.implied or self.row.status)


def waiting(handler: MessageHandler[Any]) -> QuerySet[InboundEvent]:
    """Messages about the handler's rows that are not applied yet."""
    return InboundEvent.objects.filter(
        outcome=InboundOutcome.NEW, instruction_id__startswith=handler.id_prefix
    )


def verdict(handler: MessageHandler[Any], row: Any, event: InboundEvent) -> Verdict:
    """By the rule of its kind, whatever else is said."""
    rule = handler.rules[EventKind(event.says)]
    implied = rule.implies.get(row.status)
    return Verdict(row, event, implied, rule.moves.get(implied or row.status))


def others(events: Collection[InboundEvent]) -> dict[str, Others]:
    """What else is said of the rows of these messages and not applied yet, by row."""
    said = InboundEvent.objects.filter(
        one_of("instruction_id", [event.instruction_id for event in events]),
        outcome=InboundOutcome.NEW,
    ).exclude(one_of("pk", [event.pk for event in events]))
    found: dict[str, dict[str, int]] = {event.instruction_id: {} for event in events}
    kinds = (
        said.annotate(meaning=MEANING).values_list("instruction_id", "meaning").annotate(Min("pk"))
    )
    for row_id, kind, first in kinds:
        found[row_id][kind] = first
    return dict(found)


def objection(handler: MessageHandler[Any], event: InboundEvent, row: Any) -> str:
    """Why the message cannot be about this row, or why nothing here can act on it; or an empty
    string."""
    if event.network == row.network and event.says not in handler.rules:
        return f"nothing acts on what is {event.says}"
    return mismatch(handler, event, row)


def mismatch(handler: MessageHandler[Any], event: InboundEvent, row: Any) -> str:
    """Why the message cannot be about this row, or an empty string."""
    if event.network != row.network:
        return f"another network's {handler.noun}"
    if (event.amount, event.currency) != (row.amount, row.currency):
        return "another amount or currency"
    return ""


def must_wait(
    handler: MessageHandler[Any], row: Any, event: InboundEvent, others: Others, now: datetime
) -> bool:
    """Whether the message has to wait: for an older message that another worker is applying or, if
    it comes too early, for whatever would make it fit.

    A settlement and the return after it may fit the same status, so only their order says which is
    first.
    """
    first = [
        number for kind, number in others.items() if _would_move(handler, kind, str(row.status))
    ]
    if row.status not in handler.rules[EventKind(event.says)].too_early_in:
        return _is_young(event, now) and any(number < event.pk for number in first)
    return _is_young(event, now) or _answer_is_unknown(row) or bool(first)


def _would_move(handler: MessageHandler[Any], kind: str, status: str) -> bool:
    return any(known == kind and rule.moves_from(status) for known, rule in handler.rules.items())


def _answer_is_unknown(row: Any) -> bool:
    """Whether the network may have the row although no answer is recorded. Then it is submitted
    again under the same id, which tells. A switch or a suspension may delay that for long."""
    return row.attempts > 0 and row.next_attempt_at is not None


def _is_young(event: InboundEvent, now: datetime) -> bool:
    return now - event.received_at < WAITS_AT_MOST
