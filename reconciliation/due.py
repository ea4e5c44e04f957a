"""Until when a day is to be closed, which ones are late, and what is unexplained in them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from networks import calendar
from reconciliation import accounts, figures
from reconciliation.models import SettlementAccount

# After the opening of business of the banking day after. Statements come in the night, so whoever
# has to look at a line has the morning for it.
TIME_TO_CLOSE = timedelta(hours=4)
_DAYS_NAMED = 60  # an account that nobody looks at for longer is as late


@dataclass(frozen=True, kw_only=True)
class Standing:
    """A rail for those on call: the days that should be closed by now, the oldest first, and the
    cents in them that somebody has to look at (`Figures.unreconciled`)."""

    rail: str
    late_days: tuple[date, ...]
    unreconciled: int


def deadline(day: date) -> datetime:
    """When somebody is told that the day is open."""
    return calendar.opening_of_business(calendar.next_banking_day(day)) + TIME_TO_CLOSE


def late_days(account: SettlementAccount, *, now: datetime) -> list[date]:
    """The banking days of the account that should be closed by now, whether their statements came
    or not. The oldest first, 60 at most."""
    day = calendar.next_banking_day(figures.base_of(account).day)
    late: list[date] = []
    while deadline(day) <= now and len(late) < _DAYS_NAMED:
        late.append(day)
        day = calendar.next_banking_day(day)
    return late


def standings(*, now: datetime) -> list[Standing]:
    """How each rail with a settlement account stands."""
    return [_standing(account, now) for account in accounts.in_force()]


def _standing(account: SettlementAccount, now: datetime) -> Standing:
    late = tuple(late_days(account, now=now))
    cents = figures.now_of(account, late[-1]).unreconciled if late else 0
    return Standing(rail=account.rail_id, late_days=late, unreconciled=cents)
