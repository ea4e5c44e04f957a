"""The balance over time as a drawing: everything a template needs, computed here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from balance import history
from common import days
from dashboard.templatetags.ballast import money

SPANS = (7, 30, 90)
WIDTH, HEIGHT = 720, 200
_NICE = (100, 200, 250, 500)


@dataclass(frozen=True)
class Day:
    """The balance at the end of a day (today: now), in cents; `left` is where its strip begins."""

    day: date
    available: int
    left: float


@dataclass(frozen=True)
class Chart:
    """A drawing of `WIDTH` by `HEIGHT` units. `threshold_y` is None where there is none."""

    span: int
    days: list[Day]
    strip: float
    line: str
    area: str
    zero_y: float
    threshold: int | None
    threshold_y: float | None
    ticks: list[str]
    lowest: Day
    highest: Day

    @property
    def is_empty(self) -> bool:
        """Whether there was never any money, and so nothing to draw."""
        return self.lowest.available == self.highest.available == 0

    @property
    def ends(self) -> tuple[Day, Day]:
        return self.days[0], self.days[-1]


def chosen_span(text: str) -> int:
    """The number of days in the address; anything else is 30."""
    return next((size for size in SPANS if text == str(size)), 30)


def chart(*, tenant_id: str, threshold: int | None, span: int, now: datetime) -> Chart:
    """The last `span` Eastern days. One query, whatever happened in them."""
    period = days.last_days(now, span)
    ends = [days.start_of(day + timedelta(days=1)) for day in period[:-1]]
    closings = history.closings(tenant_id=tenant_id, moments=[*ends, now + timedelta(seconds=1)])
    amounts = [closing.available for closing in closings]
    return draw(period, amounts, threshold=threshold)


def draw(period: Sequence[date], amounts: Sequence[int], *, threshold: int | None) -> Chart:
    """The drawing of one amount a day, in cents."""
    top = _round_up(max(*amounts, threshold or 0, 1))
    bottom = -_round_up(-min(amounts)) if min(amounts) < 0 else 0
    strip = WIDTH / len(period)

    def y(amount: int) -> float:
        return round(HEIGHT * (top - amount) / (top - bottom), 1)

    rows = [
        Day(day, amount, round(place * strip, 1))
        for place, (day, amount) in enumerate(zip(period, amounts, strict=True))
    ]
    points = [(round(row.left + strip / 2, 1), y(row.available)) for row in rows]
    points = [(0, points[0][1]), *points, (WIDTH, points[-1][1])]
    line = " ".join(f"{x},{y}" for x, y in points)
    return Chart(
        span=len(period),
        days=rows,
        strip=round(strip, 1),
        line=line,
        area=f"0,{y(0)} {line} {WIDTH},{y(0)}",
        zero_y=y(0),
        threshold=threshold,
        threshold_y=None if threshold is None else y(threshold),
        ticks=[_short(amount) for amount in (top, (top + bottom) // 2, bottom)],
        lowest=min(rows, key=lambda row: row.available),
        highest=max(rows, key=lambda row: row.available),
    )


def _round_up(cents: int) -> int:
    """The next amount that reads well on an axis: 1, 2, 2.5 or 5 dollars times a power of ten."""
    scale = 1
    while _NICE[-1] * scale < cents:
        scale *= 10
    return next(nice * scale for nice in (*_NICE, 1000) if nice * scale >= cents)


def _short(cents: int) -> str:
    """`$2,500`: whole dollars, as every tick of an axis is or nearly is."""
    return money(cents).removesuffix(".00")
