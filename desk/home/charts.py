"""Bar charts drawn on the server: the page needs no script, only the numbers of an SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from common.figures import DayTotal

HEIGHT = 100.0
BAR = 10.0
GAP = 4.0


@dataclass(frozen=True)
class Part:
    """One rectangle of a bar; `tone` is good, info or bad."""

    tone: str
    y: float
    height: float


@dataclass(frozen=True)
class Bar:
    """One day: its place, its rectangles from the bottom up, and its amounts for the reader."""

    x: float
    total: DayTotal
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class DayChart:
    """A bar a day. Width and height are units of the view box."""

    bars: tuple[Bar, ...]
    most: int
    is_empty: bool

    @property
    def width(self) -> float:
        return len(self.bars) * (BAR + GAP) - GAP

    height = HEIGHT
    bar_width = BAR


def day_chart(totals: Sequence[DayTotal], *, days: Sequence[date]) -> DayChart:
    """A bar for each of `days`, those without money too."""
    known = {total.day: total for total in totals}
    rows = [known.get(day, DayTotal(day=day, completed=0, moving=0, failed=0)) for day in days]
    most = max(row.completed + row.moving + row.failed for row in rows)
    bars = (_bar(row, place, most or 1) for place, row in enumerate(rows))
    return DayChart(bars=tuple(bars), most=most, is_empty=not most)


def _bar(total: DayTotal, place: int, most: int) -> Bar:
    parts, top = [], HEIGHT
    for tone, cents in (("good", total.completed), ("info", total.moving), ("bad", total.failed)):
        height = round(HEIGHT * cents / most, 2)
        top = round(top - height, 2)
        if cents:
            parts.append(Part(tone=tone, y=top, height=height))
    return Bar(x=place * (BAR + GAP), total=total, parts=tuple(parts))
