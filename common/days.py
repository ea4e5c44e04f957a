"""Eastern days and months, by which banks, limits and statements go."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

EASTERN = ZoneInfo("America/New_York")


def day_of(instant: datetime) -> date:
    """The Eastern day on which `instant` falls."""
    return instant.astimezone(EASTERN).date()


def words(instant: datetime, *, seconds: bool = False) -> str:
    """`Nov 20, 2026, 10:04 AM EST`: as people read it on pages and in sentences (decision 0123)."""
    booked = instant.astimezone(EASTERN)
    return f"{booked:%b} {booked.day}, {booked.year}, {time_words(instant, seconds=seconds)}"


def when(instant: datetime | None) -> str:
    """`words` in the name of a row, which may not be stored yet and have no moment then."""
    return "not stored yet" if instant is None else words(instant)


def time_words(instant: datetime, *, seconds: bool = False) -> str:
    """`10:04 AM EST`: beside its day."""
    booked = instant.astimezone(EASTERN)
    hour = booked.hour % 12 or 12
    minutes = f"{booked:%M:%S}" if seconds else f"{booked:%M}"
    return f"{hour}:{minutes} {booked:%p %Z}"


def start_of(day: date) -> datetime:
    """Midnight in New York at which `day` begins, in UTC."""
    return datetime.combine(day, time(), tzinfo=EASTERN).astimezone(UTC)


def start_of_day(now: datetime) -> datetime:
    """Midnight in New York at which the day of `now` began, in Eastern time."""
    return now.astimezone(EASTERN).replace(hour=0, minute=0, second=0, microsecond=0)


def start_of_month(now: datetime) -> datetime:
    """Midnight in New York at which the month of `now` began, in Eastern time."""
    return start_of_day(now).replace(day=1)


def last_days(now: datetime, days: int) -> list[date]:
    """`days` consecutive days, oldest first; the last one is the day of `now`."""
    today = day_of(now)
    return [today - timedelta(days=back) for back in reversed(range(days))]


def next_month(month: date) -> date:
    """The first day of the month after the one that `month` lies in."""
    return (month.replace(day=1) + timedelta(days=32)).replace(day=1)
