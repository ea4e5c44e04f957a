"""What people do about positions of instant rails, each with its line in the audit log."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from common.errors import NotFound
from desk import doers
from desk.doers import Doer
from networks.instant.models import PositionMove
from transfers import positions
from transfers.positions import Move

PROPOSES = "instant.propose_positionmove"
APPROVES = "instant.approve_positionmove"


@transaction.atomic
def propose(*, move: Move, reason: str, doer: Doer, now: datetime) -> PositionMove:
    """Ask another person to move money. Raises MoveRefused."""
    row = positions.propose(move, reason=reason, by=doer.name, now=now)
    _record("proposed", row, doer, now, row.reason)
    return row


@transaction.atomic
def approve(*, move: PositionMove, doer: Doer, now: datetime) -> None:
    """Raises MoveRefused, NotASecondPerson, ProposerLeft."""
    row = positions.approve(move.pk, by=doer.name, now=now)
    doers.require_second(doer, APPROVES, row, proposes=PROPOSES)
    _record("approved", row, doer, now)


@transaction.atomic
def reject(*, move: PositionMove, refusal: str, doer: Doer, now: datetime) -> None:
    """Raises MoveRefused."""
    row = positions.reject(move.pk, refusal=refusal, by=doer.name, now=now)
    _record("rejected", row, doer, now, row.refusal)


@transaction.atomic
def put_in_force(*, move: Move, reason: str, doer: Doer, now: datetime) -> PositionMove:
    """By a command, at once. Raises MoveRefused."""
    row = positions.put_in_force(move, reason=reason, by=doer.name, now=now)
    _record("moved", row, doer, now, row.reason)
    return row


def found(move_id: str) -> PositionMove:
    """Raises NotFound."""
    row = PositionMove.objects.filter(pk=move_id).first() if "\0" not in move_id else None
    if row is None:
        raise NotFound("There is no such move.")
    return row


def _record(what: str, row: PositionMove, doer: Doer, now: datetime, note: str = "") -> None:
    doers.record(
        doer,
        f"position_move.{what}",
        row.pk,
        now=now,
        note=note,
        rail=row.rail_id,
        amount=row.amount,
        bank=row.bank,
    )
