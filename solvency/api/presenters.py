"""What a client sees of proofs in a list."""

from __future__ import annotations

from typing import Any

from common import clock
from solvency.models import ProofLeaf


def proven_balance(leaf: ProofLeaf) -> dict[str, Any]:
    """One line of the list."""
    return {
        "day": leaf.report.day.isoformat(),
        "takenAt": clock.text_of(leaf.report.taken_at),
        "available": leaf.available,
        "settled": leaf.settled,
        "locked": leaf.locked,
        "overdrawn": leaf.overdrawn,
    }
