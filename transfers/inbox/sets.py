"""Messages about many rows, applied in one transaction (decision 0139).

Only what is plain is in a set: a message that fits its row, that moves it now, and that nobody
objects to. Whatever is not falls out, holds up nobody, and is applied by itself afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import transaction

from balance import services as ledger
from common.engine import sql
from common.engine.lookups import one_of
from transfers.contract import Effect, MessageHandler, Subject
from transfers.inbox import judging
from transfers.inbox.judging import Others, Verdict
from transfers.inbox.models import InboundEvent, InboundOutcome

# A set of several tenants waits no longer than this for a balance, because it holds others.
LOCK_TIMEOUT_MS = 250
_WAIT_BRIEFLY = "SELECT set_config('lock_timeout', %(limit)s, true)"

# Locks messages about different rows, in the transaction in which they are applied.
Take = Callable[[], Iterable[InboundEvent]]


class Outcome(NamedTuple):
    """How many messages were applied, and the ids of those that are left: each to be applied by
    itself, or with others of a tenant whose balance somebody has locked."""

    applied: int
    left: list[int]
    busy: list[list[int]]


def by_ids(handler: MessageHandler[Subject], event_ids: Collection[int]) -> Take:
    """Takes those of these messages that still wait and that nobody has locked."""
    due = judging.waiting(handler).filter(one_of("pk", event_ids)).order_by("pk")
    return due.select_for_update(skip_locked=True).all


@transaction.atomic
def apply(
    handler: MessageHandler[Subject], take: Take, *, now: datetime, skip_busy: bool = False
) -> Outcome:
    """Apply those of the messages taken, each about another row, that are plain.

    Nothing in it waits for a message or a row that somebody else has in hand, nor long for a
    balance while it holds another one. `skip_busy`: nor at all. Whatever it raises undoes all.
    """
    events = list(take())
    rows = handler.lock_many([event.instruction_id for event in events])
    others = judging.others(events)
    verdicts = [
        judging.verdict(handler, rows[event.instruction_id], event)
        for event in events
        if event.instruction_id in rows and event.says in handler.in_sets
    ]
    plain = [each for each in verdicts if _is_plain(handler, each, others, now)]
    busy = _busy(plain, skip=skip_busy)
    free = [each for each in plain if each.row.tenant_id not in busy]
    carry_out(handler, free, now=now)
    _close({each.event.pk for each in free}, now)
    done = {each.event.pk for each in plain}
    left = [event.pk for event in events if event.pk not in done]
    return Outcome(len(free), left, list(busy.values()))


def carry_out(
    handler: MessageHandler[Subject], verdicts: Sequence[Verdict], *, now: datetime
) -> None:
    """Make the moves of messages about different rows, the implied ones first, and write down what
    moves nothing."""
    implied = [Effect(v.row, v.implied, v.event) for v in verdicts if v.implied is not None]
    moved = [Effect(v.row, v.target, v.event) for v in verdicts if v.target and v.moves]
    noted = [Effect(v.row, v.target, v.event) for v in verdicts if v.target and not v.moves]
    if implied:
        handler.imply(implied, now)
    if noted:
        handler.note(noted, now)
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
        and not judging.objection(handler, event, row)
        and not judging.must_wait(handler, row, event, others[event.instruction_id], now)
    )


def _busy(plain: Sequence[Verdict], *, skip: bool) -> dict[str, list[int]]:
    """Make sure that no balance is held for long while another one is waited for. The messages
    of tenants whose balances are locked now, by tenant, if these are to be skipped."""
    by_tenant: dict[str, list[int]] = {}
    for each in plain:
        by_tenant.setdefault(each.row.tenant_id, []).append(each.event.pk)
    if skip:
        locked = ledger.lock_rows(tenant_ids=by_tenant, wait=False)
        return {tenant_id: by_tenant[tenant_id] for tenant_id in sorted(locked)}
    if len(by_tenant) > 1:
        sql.rows(_WAIT_BRIEFLY, {"limit": str(LOCK_TIMEOUT_MS)})
    return {}


def _close(event_ids: Collection[int], now: datetime) -> None:
    rows = InboundEvent.objects.filter(one_of("pk", event_ids))
    rows.update(outcome=InboundOutcome.APPLIED, note="", decided_at=now, next_attempt_at=None)
