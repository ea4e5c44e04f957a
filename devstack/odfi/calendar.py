"""Banking days and processing windows of the bank: FedACH's day, in Eastern time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

EASTERN = ZoneInfo("America/New_York")
DAY = timedelta(days=1)
OPENING = time(8, 30)
STATEMENT_TIME = time(6, 0)
CONSUMER_DAYS = 60
CREDIT_LEAD_DAYS = 2


@dataclass(frozen=True)
class Window:
    """A file that leaves for the operator. `same_day_at` is when its same-day entries settle."""

    cutoff: time
    distribution: time
    same_day_at: time | None


# The bank takes files until 15 minutes before each deadline of the operator.
WINDOWS = (
    Window(time(10, 15), time(12, 0), time(13, 0)),
    Window(time(14, 30), time(16, 0), time(17, 0)),
    Window(time(16, 30), time(17, 30), time(18, 0)),
    Window(time(19, 45), time(23, 30), None),
    Window(time(22, 30), time(23, 30), None),
)


def is_open(day: date) -> bool:
    return day.weekday() < 5 and not _is_holiday(day)


def _is_holiday(day: date) -> bool:
    """Whether the Reserve Banks close on this weekday. A holiday on a Saturday closes nothing."""
    yesterday = day - DAY
    if _is_fixed_holiday(day) or (day.weekday() == 0 and _is_fixed_holiday(yesterday)):
        return True
    nth = (day.day - 1) // 7 + 1
    is_last = (day + 7 * DAY).month != day.month
    match day.month, day.weekday():
        case (1 | 2, 0):  # Martin Luther King Jr. Day, Washington's Birthday
            return nth == 3
        case (5, 0):  # Memorial Day
            return is_last
        case (9, 0):  # Labor Day
            return nth == 1
        case (10, 0):  # Columbus Day
            return nth == 2
        case (11, 3):  # Thanksgiving Day
            return nth == 4
    return False


def _is_fixed_holiday(day: date) -> bool:
    return (day.month, day.day) in {(1, 1), (6, 19), (7, 4), (11, 11), (12, 25)}


def next_open(day: date) -> date:
    """The first banking day after `day`."""
    day += DAY
    while not is_open(day):
        day += DAY
    return day


def open_from(day: date) -> date:
    return day if is_open(day) else next_open(day)


def plus(day: date, banking_days: int) -> date:
    for _ in range(banking_days):
        day = next_open(day)
    return day


def banking_days_between(first: date, last: date) -> int:
    """How many banking days after `first` the day `last` is; 0 when it is not later."""
    count = 0
    while first < last:
        first = next_open(first)
        count += first <= last
    return count


def consumer_limit(settled: date) -> date:
    """The day by whose opening a return for want of authorization must be there."""
    return next_open(settled + CONSUMER_DAYS * DAY)


def instant(day: date, at: time) -> datetime:
    return datetime.combine(day, at, tzinfo=EASTERN).astimezone(UTC)


def local(moment: datetime) -> datetime:
    return moment.astimezone(EASTERN)


def day_of(moment: datetime) -> date:
    return local(moment).date()


def processing(moment: datetime) -> tuple[date, Window]:
    """The banking day and the window in which a file received at `moment` is processed."""
    here = local(moment)
    if is_open(here.date()):
        for window in WINDOWS:
            if here.time() < window.cutoff:
                return here.date(), window
    return next_open(here.date()), WINDOWS[0]


def settlement(
    processed: date, window: Window, effective: date | None, *, same_day_allowed: bool
) -> datetime:
    """When an entry settles. `effective` is None where the field is blank or no date."""
    if effective == processed and window.same_day_at is not None and same_day_allowed:
        return instant(processed, window.same_day_at)
    day = next_open(processed)
    if effective is not None and effective > day:
        day = open_from(effective)
    return instant(day, OPENING)


def is_too_late(processed: date, effective: date, *, is_debit: bool) -> bool:
    """Whether an effective date is further ahead than the operator holds entries."""
    lead = 1 if is_debit else CREDIT_LEAD_DAYS
    return open_from(effective) > plus(processed, lead)


def julian(day: date) -> str:
    return f"{day.timetuple().tm_yday:03}"
