"""A pause after a failure, so that a server that is down costs one short wait, not one per call."""

from __future__ import annotations

import time


class CoolDown:
    """Held in memory, per process. Call `begin()` after a failure, and ask `is_over` before the
    next try."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = 0.0

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self._until

    def begin(self) -> None:
        self._until = time.monotonic() + self._seconds
