"""A pause after a failure, so that an outage of a helper costs one short wait, not one per call."""

from __future__ import annotations

import time


class CoolDown:
    """Per process, in memory. `begin()` after a failure; ask `is_over` before the next try."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = 0.0

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self._until

    def begin(self) -> None:
        self._until = time.monotonic() + self._seconds
