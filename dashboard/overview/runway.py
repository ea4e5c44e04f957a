"""How long the available balance lasts if spending goes on as in the last days (decision 0207)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise

from balance.history import Stretch

DAYS = 14
_DAYS_MIN = 3
_DAYS_MAX = 365


@dataclass(frozen=True)
class Runway:
    """`days` that the balance lasts, at most 365, until `until`; `pace`: cents a day, the mean of
    the last `counted` whole days."""

    days: int
    until: date
    pace: int
    counted: int

    @property
    def is_long(self) -> bool:
        return self.days >= _DAYS_MAX


def runway(ends: Sequence[Stretch], *, available: int, today: date) -> Runway | None:
    """`ends` are the balances at the ends of whole days, oldest first, the one before the days
    that are counted in front.

    None where it would say nothing: fewer than three days since the first line, nothing spent, or
    nothing left to spend.
    """
    spent = [
        before.available + after.added - after.available
        for before, after in pairwise(ends)
        if after.sequence > 0
    ]
    pace = sum(spent) / len(spent) if spent else 0
    if len(spent) < _DAYS_MIN or pace <= 0 or available <= 0:
        return None
    lasts = min(_DAYS_MAX, int(available / pace))
    return Runway(lasts, today + timedelta(days=lasts), round(pace), len(spent))
