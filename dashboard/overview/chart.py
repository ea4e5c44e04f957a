"""The balance over time as a drawing: everything a template needs, computed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from balance import history
from common import days
from dashboard.overview import runway
from dashboard.overview.runway import Runway
from dashboard.templatetags.ballast import money
from funding import selectors as funding
from funding.models import AutoFundingConfig
from payments.models import SOURCE_TYPE as PAYMENT

SPANS = (7, 30, 90)
WIDTH, HEIGHT = 720, 200
_NICE = (100, 200, 250, 500)


@dataclass(frozen=True)
class Day:
    """The balance at the end of a day (today: now), in cents; `x` and `y` are its point. `fired`:
    the cents that auto-funding began to add on it."""

    day: date
    available: int
    x: float
    y: float
    fired: int = 0


@dataclass(frozen=True)
class Chart:
    """A drawing of `WIDTH` by `HEIGHT` units. `threshold_y` is None where there is none."""

    span: int
    days: list[Day]
    line: str
    area: str
    zero_y: float
    threshold: int | None
    threshold_y: float | None
    ticks: list[str]
    lowest: Day
    highest: Day
    runway: Runway | None = None

    @property
    def fired(self) -> list[Day]:
        """The days on which auto-funding fired."""
        return [row for row in self.days if row.fired]

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


def chart(*, tenant_id: str, config: AutoFundingConfig, span: int, now: datetime) -> Chart:
    """The last `span` Eastern days. One query, whatever happened in them, and one for what
    auto-funding did if it did anything."""
    # The whole days of the runway and the end of the one before them, and today.
    period = days.last_days(now, max(span, runway.DAYS + 2))
    ends = [days.start_of(day + timedelta(days=1)) for day in period[:-1]]
    moments = [*ends, now + timedelta(seconds=1)]
    course = history.course(tenant_id=tenant_id, moments=moments, spending=PAYMENT)
    amounts = [end.available for end in course]
    drawn = draw(
        period[-span:],
        amounts[-span:],
        threshold=config.low_balance_threshold if config.enabled else None,
        fired=_fired(config, since=days.start_of(period[-span])),
    )
    whole = course[-runway.DAYS - 2 : -1]
    lasts = runway.runway(whole, available=amounts[-1], today=period[-1])
    return replace(drawn, runway=lasts)


def _fired(config: AutoFundingConfig, *, since: datetime) -> Mapping[date, int]:
    """Cents that auto-funding began to add, by Eastern day. One query, none if it did not."""
    last = config.last_triggered_at
    if last is None or last < since:
        return {}
    return funding.fired_by_day(tenant_id=config.tenant_id, since=since)


def draw(
    period: Sequence[date],
    amounts: Sequence[int],
    *,
    threshold: int | None,
    fired: Mapping[date, int] | None = None,
) -> Chart:
    """The drawing of one amount a day, in cents."""
    top = _round_up(max(*amounts, threshold or 0, 1))
    bottom = -_round_up(-min(amounts)) if min(amounts) < 0 else 0
    strip, by_day = WIDTH / len(period), fired or {}

    def y(amount: int) -> float:
        return round(HEIGHT * (top - amount) / (top - bottom), 1)

    rows = [
        Day(day, amount, round((place + 0.5) * strip, 1), y(amount), by_day.get(day, 0))
        for place, (day, amount) in enumerate(zip(period, amounts, strict=True))
    ]
    points = [(0, rows[0].y), *((row.x, row.y) for row in rows), (WIDTH, rows[-1].y)]
    line = " ".join(f"{across},{down}" for across, down in points)
    return Chart(
        span=len(period),
        days=rows,
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
