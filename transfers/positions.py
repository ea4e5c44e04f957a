"""Money of ours that people move to the network of an instant rail, or from it: the position and
the operator's books in one transaction (decision 0224).

People tell the bank; this says what they told it. One person proposes a move, another one approves
it. The caller writes the audit log.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction

from balance import services as ledger
from balance.operator.accounts import Step
from balance.operator.posting import Booking
from common import audits
from common.audits import Finding, Scope
from common.database.constraints import violated
from common.engine.wakeups import enqueue_on_commit
from common.errors import StaffRefusal
from common.money import AMOUNT_MAX, format_cents
from networks.columns import REASON_LENGTH_MAX
from networks.instant.models import InstantRail, Position, PositionMove
from networks.instant.states import MOVE_STATES, MoveStatus
from networks.rails.models import Rail

SOURCE_TYPE = "position_move"


class MoveRefused(StaffRefusal):
    code = "position_move_refused"
    title = "No money was moved"
    advice = "Look at the position again: it has changed, or somebody has decided already."


@dataclass(frozen=True, kw_only=True)
class Move:
    """`cents` go to the network of `rail`, or come back from it (below zero). `bank` is the rail at
    whose bank they lie otherwise; empty: at an account that is not in the books."""

    rail: str
    cents: int
    bank: str = ""


def propose(move: Move, *, reason: str, by: str, now: datetime) -> PositionMove:
    """Ask another person. Raises MoveRefused."""
    return _insert(_row(move, reason=reason, by=by, now=now))


@transaction.atomic
def put_in_force(move: Move, *, reason: str, by: str, now: datetime) -> PositionMove:
    """At an operator's word, without another person. Raises MoveRefused."""
    row = _row(move, reason=reason, by=by, now=now)
    _require_enough(row)
    row.by_command = True
    row.status, row.decided_by, row.decided_at = MoveStatus.APPROVED, by, now
    _insert(row)
    _book(row, now)
    return row


@transaction.atomic
def approve(move_id: str, *, by: str, now: datetime) -> PositionMove:
    """The money counts from now on, and payments that waited for it go. Raises MoveRefused."""
    row = _undecided(move_id)
    if row.proposed_by == by:
        raise MoveRefused("You proposed it, so somebody else decides.")
    _require_enough(row)
    MOVE_STATES.advance(row, MoveStatus.APPROVED, decided_by=by, decided_at=now)
    _book(row, now)
    return row


@transaction.atomic
def reject(move_id: str, *, refusal: str, by: str, now: datetime) -> PositionMove:
    """Whoever proposed it may take it back so, too. Raises MoveRefused."""
    row, text = _undecided(move_id), _reason(refusal)
    MOVE_STATES.advance(row, MoveStatus.REJECTED, decided_by=by, decided_at=now, refusal=text)
    return row


def _row(move: Move, *, reason: str, by: str, now: datetime) -> PositionMove:
    if not InstantRail.objects.filter(pk=move.rail).exists():
        raise MoveRefused("There is no such instant rail.")
    if move.bank and (move.bank == move.rail or not Rail.objects.filter(pk=move.bank).exists()):
        raise MoveRefused("There is no such other rail.")
    if not 1 <= abs(move.cents) <= AMOUNT_MAX:
        raise MoveRefused("Say how much.")
    return PositionMove(
        rail_id=move.rail,
        amount=move.cents,
        bank=move.bank,
        reason=_reason(reason),
        proposed_by=by,
        proposed_at=now,
    )


def _reason(text: str) -> str:
    if not 1 <= len(text := text.strip()) <= REASON_LENGTH_MAX:
        raise MoveRefused(f"A reason of 1 to {REASON_LENGTH_MAX} characters is needed.")
    return text


def _insert(row: PositionMove) -> PositionMove:
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError as error:
        if violated(error) == "one_proposed_position_move":
            raise MoveRefused("Another move of this rail waits for a second person.") from error
        raise
    return row


def _undecided(move_id: str) -> PositionMove:
    rows = PositionMove.objects.select_for_update(no_key=True, of=("self",))
    row = rows.filter(pk=move_id).first() if "\0" not in move_id else None
    if row is None:
        raise MoveRefused("There is no such move.")
    if not row.is_open:
        raise MoveRefused("Somebody has decided about it already.")
    return row


def _require_enough(row: PositionMove) -> None:
    """Nothing comes back that is not there, or that payments have ordered already."""
    position = Position.objects.select_for_update(no_key=True).get(pk=row.rail_id)
    if row.amount < 0 and position.free + row.amount < 0:
        raise MoveRefused(f"Only {format_cents(max(position.free, 0))} can be taken back.")


def _book(row: PositionMove, now: datetime) -> None:
    here, there = (Step.MOVED_IN, Step.MOVED_OUT)[:: 1 if row.amount > 0 else -1]
    places = [(here, row.rail_id), *([(there, row.bank)] if row.bank else ())]
    lines = [
        Booking(step, abs(row.amount), rail, SOURCE_TYPE, row.pk, None) for step, rail in places
    ]
    ledger.book(lines, now=now)
    enqueue_on_commit("networks.send_instant_messages")


# --- The audit

_BOOKED = """
SELECT '', move.id, 'is ' || move.status || ', and its lines in the books are '
    || coalesce(booked.lines, 'missing')
FROM instant_positionmove AS move
LEFT JOIN LATERAL (
    SELECT string_agg(line.rail || ' ' || line.step || ' ' || line.amount, ', '
        ORDER BY line.step) AS lines
    FROM balance_operator_line AS line
    WHERE line.source_id = move.id AND line.source_type = %(source_type)s
) AS booked ON true
CROSS JOIN LATERAL (
    SELECT string_agg(place.rail || ' ' || place.step || ' ' || abs(move.amount), ', '
        ORDER BY place.step) AS lines
    FROM (VALUES
        (move.rail_id, CASE WHEN move.amount > 0 THEN 'moved_in' ELSE 'moved_out' END),
        (move.bank, CASE WHEN move.amount > 0 THEN 'moved_out' ELSE 'moved_in' END)
    ) AS place (rail, step)
    WHERE move.status = 'approved' AND place.rail <> ''
) AS due
WHERE booked.lines IS DISTINCT FROM due.lines
"""


def check(scope: Scope) -> Iterator[Finding]:
    """Check that each move is in the books as it says, and only once it is approved. There are few
    of them, so each check reads all."""
    if scope.tenant_ids is None:
        values = {"source_type": SOURCE_TYPE}
        yield from audits.found("position_move_books", _BOOKED, values)
