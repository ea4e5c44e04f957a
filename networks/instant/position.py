"""What may leave by a rail: the money that lies prefunded at its network (decision 0224)."""

from __future__ import annotations

from networks.instant.models import Position
from networks.instant.rails import RailInForce

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
