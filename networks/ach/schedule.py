"""When files leave, and which days follow from it. Instants are UTC, cut-offs Eastern."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice

from networks import calendar
from networks.ach import bank_clock
from networks.ach.terms import RailTerms
from networks.base import Speed

# Same-day entries settle in the last window at the latest (FedACH schedule).
SAME_DAY_SETTLED = time(18, 0)
# The last ordinary returns of a debit lie at our bank when business opens. They are fetched and
# read before its money is final.
_RETURNS_READ_WITHIN = timedelta(minutes=30)

# Of the stand-in bank, whose days pass in seconds (`bank_clock`): how often entries are fixed, so
# that what is asked for together goes together, and how long their file may wait for people.
_FROZEN_EVERY = timedelta(seconds=5)
_RELEASED_WITHIN = timedelta(minutes=30)


@dataclass(frozen=True)
class Window:
    """A cut-off of one banking day. Entries taken before `frozen_from` are in its files."""

    day: date
    cutoff_at: datetime
    frozen_from: datetime
    same_day: bool


def day_windows(terms: RailTerms, now: datetime) -> list[Window]:
    """All windows of today, or of the next banking day if the banks are closed today."""
    if bank_clock.hurry() is not None:
        return [next_window(terms, now)]
    return list(islice(_windows(terms, now), len(terms.cutoffs)))


def next_window(terms: RailTerms, now: datetime) -> Window:
    """The window for an entry that is taken now."""
    if bank_clock.hurry() is not None:
        return _hurried(terms, now, frozen_from=_round(now) + _FROZEN_EVERY)
    return next(each for each in _windows(terms, now) if each.frozen_from > now)


def open_window(terms: RailTerms, now: datetime) -> Window | None:
    """The window whose files are made now: its entries are fixed, its cut-off has not come."""
    if bank_clock.hurry() is not None:
        return _hurried(terms, now, frozen_from=_round(now))
    for each in _windows(terms, now):
        if each.frozen_from <= now < each.cutoff_at:
            return each
        if each.frozen_from > now:
            return None
    return None


def effective_date(window: Window, *, same_day: bool) -> date:
    """When entries of a window are to settle."""
    return window.day if same_day else calendar.next_banking_day(window.day)


def is_same_day(terms: RailTerms, window: Window, *, speed: str, amount: int) -> bool:
    """Whether an entry of this window settles on its day."""
    asked = speed == Speed.SAME_DAY
    return asked and window.same_day and amount <= terms.same_day_max


def settled_at(day: date, *, same_day: bool) -> datetime:
    """The moment at which entries of a banking day have settled."""
    if same_day:
        return datetime.combine(day, SAME_DAY_SETTLED, tzinfo=calendar.EASTERN).astimezone(UTC)
    return calendar.opening_of_business(day)


def final_at(day: date, *, is_debit: bool, same_day: bool) -> datetime:
    """The moment from which the money of an entry that settled on `day` can be relied on."""
    if is_debit:
        opening = calendar.opening_of_business(calendar.return_due_date(day))
        return opening + _RETURNS_READ_WITHIN
    return settled_at(day, same_day=same_day)


def returns_lie_there() -> timedelta:
    """For how long, when a debit is due to be final, its returns have been at our bank."""
    return _RETURNS_READ_WITHIN if bank_clock.hurry() is None else bank_clock.FETCHED_WITHIN


def _hurried(terms: RailTerms, now: datetime, *, frozen_from: datetime) -> Window:
    """A window of a bank whose days pass in seconds: it always takes entries, dated by the bank's
    clock, and people have time to release its files."""
    moment = bank_clock.at_bank(now)
    theirs = next(each for each in _windows(terms, moment) if each.cutoff_at > moment)
    return Window(theirs.day, frozen_from + _RELEASED_WITHIN, frozen_from, theirs.same_day)


def _round(now: datetime) -> datetime:
    """The last of the moments at which a hurried bank's entries are fixed."""
    return now - timedelta(seconds=now.timestamp() % _FROZEN_EVERY.total_seconds())


def _windows(terms: RailTerms, now: datetime) -> Iterator[Window]:
    """In order, from the first one of today on."""
    day = calendar.banking_day_from(now.astimezone(calendar.EASTERN).date())
    while True:
        for cutoff in terms.cutoffs:
            at = datetime.combine(day, cutoff.at, tzinfo=calendar.EASTERN).astimezone(UTC)
            yield Window(day, at, at - terms.lead, cutoff.same_day)
        day = calendar.next_banking_day(day)
