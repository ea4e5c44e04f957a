"""What the caller of `./run bench` chose, and how parts speak to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Options:
    """`pairs` slices of `seconds` on either side; `rows` of history.

    `quick`: does it work. `full`: the sizes that the aims speak of, however long it takes.
    `against`: another checkout that `complete` runs in turns with this one.
    """

    pairs: int
    seconds: float
    rows: int
    quick: bool
    full: bool
    tell: Callable[[str], None]
    against: Path | None = None

    def scaled(self, usual: int, quick: int, full: int | None = None) -> int:
        """A size of the work."""
        if self.full and full is not None:
            return full
        return quick if self.quick else usual
