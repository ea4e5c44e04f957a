"""What the caller of `./run bench` chose, and how parts speak to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Options:
    """`pairs` slices of `seconds` on either side; `rows` of history; `quick`: does it work."""

    pairs: int
    seconds: float
    rows: int
    quick: bool
    tell: Callable[[str], None]

    def scaled(self, whole: int, quick: int) -> int:
        """A size of the work."""
        return quick if self.quick else whole
