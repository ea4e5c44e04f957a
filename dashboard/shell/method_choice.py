"""One way to move money, as a form offers it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class MethodChoice:
    """What it means, the most it takes in cents, and when the money is there: by date, or `soon`
    in words."""

    title: str
    meaning: str
    most: int
    expected_on: date
    soon: str = ""

    def __str__(self) -> str:
        return self.title
