"""What happened in one seed, step by step, and a digest of it. The same seed gives the
same digest."""

from __future__ import annotations

import hashlib
from collections import deque
from typing import NamedTuple

KEPT_LINES = 400


class Line(NamedTuple):
    """One step: which process was where, and what it was told."""

    step: int
    who: str
    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.step:>6}  {self.who:<12} {self.what:<16} {self.place}"


class Trace:
    """Keeps the last lines. The digest covers all lines."""

    def __init__(self, *, keep: int = KEPT_LINES) -> None:
        self.lines: deque[Line] = deque(maxlen=keep)
        self.steps = 0
        self._digest = hashlib.sha256()

    def note(self, who: str, place: str, what: str) -> None:
        self.steps += 1
        self.lines.append(Line(self.steps, who, place, what))
        self._digest.update(f"{who}\0{place}\0{what}\n".encode())

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()[:16]
