"""The banking calendar: Federal Reserve holidays, cut-offs and the dates that follow.

A banking day is a day on which the Federal Reserve Banks are open. Every instant is judged in
Eastern time, whatever its own zone; instants that are returned are in UTC. Cut-offs are the times
of a banking day, Eastern and ascending, at which a network's files leave. Which ones there are, and
which of their files settle on the same day, each network says for itself (`MethodTerms`).

Sources: the Federal Reserve's K.8 holiday list, and the return time frames of the Nacha Operating
Rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import count
from zoneinfo import ZoneInfo

EASTERN = ZoneInfo("America/New_York")

OPENING_OF_BUSINESS = time(8, 30)

# We have every ordinary return when the second banking day after settlement opens. A consumer may
# call a debit unauthorized for 60 calendar days.
RETURN_WINDOW_BANKING_DAYS = 2
UNAUTHORIZED_WINDOW_CALENDAR_DAYS = 60
# A bank may contest that its return was dishonored, or correct the return.
CONTEST_BANKING_DAYS = 2

MONDAY, THURSDAY, SATURDAY, SUNDAY = 0, 3, 5, 6
ONE_DAY = timedelta(days=1)


def is_banking_day(day: date) -> bool:
    return day.weekday() < SATURDAY and day not in holidays(day.year)


@cache
def holidays(year: int) -> frozenset[date]:
    """The days of `year` that are closed for a holiday, by the list of 2022 and later.

    A holiday on a Sunday closes the Monday after it. One on a Saturday closes nothing: the Reserve
    Banks are open on the Friday before, which common holiday libraries get wrong.
    """
    fixed = [
        date(year, 1, 1),  # New Year's Day
        date(year, 6, 19),  # Juneteenth
        date(year, 7, 4),  # Independence Day
        date(year, 11, 11),  # Veterans Day
        date(year, 12, 25),  # Christmas Day
    ]
    floating = [
        _nth_weekday(year, 1, MONDAY, 3),  # Martin Luther King Jr. Day
        _nth_weekday(year, 2, MONDAY, 3),  # Washington's Birthday
        _nth_weekday(year, 6, MONDAY, 1) - timedelta(weeks=1),  # Memorial Day, the last in May
        _nth_weekday(year, 9, MONDAY, 1),  # Labor Day
        _nth_weekday(year, 10, MONDAY, 2),  # Columbus Day
        _nth_weekday(year, 11, THURSDAY, 4),  # Thanksgiving Day
    ]
    observed = [day + ONE_DAY if day.weekday() == SUNDAY else day for day in fixed]
    return frozenset(day for day in observed + floating if day.weekday() != SATURDAY)


def next_banking_day(day: date) -> date:
    """The first banking day after `day`."""
    later = (day + timedelta(days=offset) for offset in count(1))
    return next(candidate for candidate in later if is_banking_day(candidate))


def banking_day_from(day: date) -> date:
    """`day` itself if the banks are open, else the next day on which they are."""
    return day if is_banking_day(day) else next_banking_day(day)


def add_banking_days(day: date, days: int) -> date:
    """The `days`-th banking day after `day`, which need not be a banking day. With zero it is
    `day`."""
    if days < 0:
        raise ValueError("counts forward only")
    for _ in range(days):
        day = next_banking_day(day)
    return day


def next_cutoff(now: datetime, cutoffs: Sequence[time]) -> datetime:
    """When the next file leaves. At the second of a cut-off, that file has left."""
    return _instant(*_next(now, cutoffs))


def banking_date(now: datetime, cutoffs: Sequence[time]) -> date:
    """The banking day to which an instruction given `now` belongs: after the last cut-off it is the
    next one."""
    day, _ = _next(now, cutoffs)
    return day


def settlement_date(
    now: datetime, cutoffs: Sequence[time], *, same_day: Sequence[time] = ()
) -> date:
    """When an instruction given `now` settles: the banking day after it is processed, or on the day
    of the next of the cut-offs in `same_day`, if that is earlier."""
    settled = next_banking_day(banking_date(now, cutoffs))
    return min(settled, banking_date(now, same_day)) if same_day else settled


def return_due_date(settled: date) -> date:
    """The date by whose opening of business an ordinary return has arrived: two banking days on."""
    return add_banking_days(settled, RETURN_WINDOW_BANKING_DAYS)


def unauthorized_return_due_date(settled: date) -> date:
    """The date by whose opening of business a consumer's "not authorized" return has arrived."""
    return next_banking_day(settled + timedelta(days=UNAUTHORIZED_WINDOW_CALENDAR_DAYS))


def contest_due_date(dishonored: date) -> date:
    """The last day on which the dishonor of a return that settled on `dishonored` may be contested
    or the return be corrected."""
    return add_banking_days(dishonored, CONTEST_BANKING_DAYS)


def opening_of_business(day: date) -> datetime:
    return _instant(day, OPENING_OF_BUSINESS)


def banking_day_later(now: datetime) -> datetime:
    """The same time of the next banking day, Eastern."""
    local = _eastern(now)
    return _instant(next_banking_day(local.date()), local.time())


def instant_availability(now: datetime) -> date:
    """The date that an instant payment made now has. Money moves around the clock, but every date
    that we promise is a banking day, so a weekend's request says Monday."""
    return banking_day_from(_eastern(now).date())


def _next(now: datetime, cutoffs: Sequence[time]) -> tuple[date, time]:
    """The banking day and time of the next cut-off, Eastern."""
    local = _eastern(now)
    if is_banking_day(local.date()):
        for cutoff in cutoffs:
            if local.time() < cutoff:
                return local.date(), cutoff
    return next_banking_day(local.date()), cutoffs[0]


def _nth_weekday(year: int, month: int, weekday: int, nth: int) -> date:
    first = date(year, month, 1)
    return first + timedelta(days=(weekday - first.weekday()) % 7, weeks=nth - 1)


def _eastern(now: datetime) -> datetime:
    if now.tzinfo is None:
        raise ValueError("an instant needs its time zone")
    return now.astimezone(EASTERN)


def _instant(day: date, at: time) -> datetime:
    return datetime.combine(day, at, tzinfo=EASTERN).astimezone(UTC)
