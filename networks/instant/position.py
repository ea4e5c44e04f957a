"""What may leave by a rail: the money that lies prefunded at its network (decision 0224)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Min, Sum

from networks.instant.models import Conversation, InstantVersion, Position
from networks.instant.rails import RailInForce
from networks.instant.states import ConversationStatus, VersionStatus
from networks.instant.terms import InvalidTerms

POSITION = "position"


class Room:
    """What may still leave in the caller's transaction."""

    def __init__(self, cents: int | None) -> None:
        self._left = cents

    def take(self, cents: int) -> str:
        """What a payment has to wait for, in a word; an empty string: it may go."""
        if self._left is None:
            return ""
        if cents > self._left:
            return POSITION
        self._left -= cents
        return ""


def room(rail: RailInForce) -> Room:
    """Locks the position until the transaction ends, so that nobody else decides meanwhile. What is
    sent in it is reserved by a trigger. A rail that keeps no position has room for all."""
    if not rail.terms.keeps_position:
        return Room(None)
    row = Position.objects.select_for_update(no_key=True).get(pk=rail.name)
    return Room(row.free)


def free(rail: RailInForce) -> int | None:
    """What may leave now, in cents, without a lock; None: whatever there is."""
    return Position.objects.get(pk=rail.name).free if rail.terms.keeps_position else None


def waits(instruction_id: str) -> bool:
    """Whether a payment waits for money at the network, so nothing of it has left."""
    rows = Conversation.objects.filter(instruction_id=instruction_id, waits_for=POSITION)
    return rows.filter(status=ConversationStatus.WAITING).exists()


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The position of a rail that has terms, in cents. What waits for money: how many payments and
    returns of funds, what they come to, and since when the oldest of them."""

    rail: str
    balance: int
    reserved: int
    is_kept: bool
    warn_below: int
    waiting: int = 0
    waiting_cents: int = 0
    since: datetime | None = None

    @property
    def free(self) -> int:
        return self.balance - self.reserved

    @property
    def is_low(self) -> bool:
        """Whether somebody has to see to it: something waits, or will soon."""
        return self.is_kept and (self.waiting > 0 or self.free < self.warn_below)


def standings() -> list[Standing]:
    """Of all rails that have terms, by name. Two queries, by indexes of what is open."""
    terms = InstantVersion.objects.filter(status=VersionStatus.CURRENT)
    rows = terms.select_related("rail__position").order_by("rail_id")
    waiting = _waiting()
    return [_standing(row, **waiting.get(row.rail_id, {})) for row in rows if _is_readable(row)]


def _is_readable(version: InstantVersion) -> bool:
    try:
        return version.parsed is not None
    except InvalidTerms:
        return False


def _standing(version: InstantVersion, **waiting: Any) -> Standing:
    position, terms = version.rail.position, version.parsed
    return Standing(
        rail=version.rail_id,
        balance=position.balance,
        reserved=position.reserved,
        is_kept=terms.keeps_position,
        warn_below=terms.position_warn_below,
        **waiting,
    )


def _waiting() -> dict[str, dict[str, Any]]:
    """Of each rail, what a Standing says of what waits."""
    rows = Conversation.objects.filter(status=ConversationStatus.WAITING).order_by()
    sums = rows.values_list("rail_id").annotate(Count("pk"), Sum("amount"), Min("created_at"))
    return {
        rail: {"waiting": count, "waiting_cents": cents, "since": since}
        for rail, count, cents, since in sums
    }
