"""What may leave by a rail: the money that lies prefunded at its network."""

from __future__ import annotations

POSITION = "position"


def reserve(rail: str, cents: int) -> str:
    """Set `cents` aside for a payment, in the caller's transaction. Returns what the payment has to
    wait for, in a word; an empty string: it may go.

    No position is kept yet, so nothing waits.
    """
    return ""
