"""Until when who may say what about an entry that was sent.

Every date is one by whose end, or by whose opening of business where a bank's answer has to be
available, something must have happened. Sources: Nacha Operating Rules, 2.8 and 2.9 (reversals),
2.11 (changes), 2.12 (retries, dishonored returns) and Appendix Four (time frames by code).
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from enum import StrEnum

from networks.ach import bank_clock
from networks.calendar import (
    EASTERN,
    add_banking_days,
    return_due_date,
    unauthorized_return_due_date,
)
from networks.schemes import RETRY_WITHIN

DISHONOR_BANKING_DAYS = 5
CHANGE_BANKING_DAYS = 6
REFUSAL_CALENDAR_DAYS = 15
REVERSAL_BANKING_DAYS = 5
REVERSAL_AFTER_DISCOVERY = timedelta(hours=24)
# A person looks at what we cannot match while our bank can still dishonor it.
REVIEW_BANKING_DAYS = 1
# A trace number may have been given to another entry since. What is older than this is not looked
# for: the longest time frame of any code is 60 days, and banks answer for late returns.
OLDEST_ENTRY = timedelta(days=400)


class TimeFrame(StrEnum):
    """How long after settlement a return may come."""

    TWO_BANKING_DAYS = "two_banking_days"
    SIXTY_DAYS = "sixty_days"
    AGREED = "agreed"  # between the banks, or by no rule that we know


_SIXTY_DAYS = frozenset(
    ("R05", "R07", "R10", "R11", "R33", "R37", "R38", "R51", "R52", "R53"),
)
_AGREED = frozenset(("R06", "R23", "R31", "R90"))


def time_frame(code: str) -> TimeFrame:
    """The time frame of a return code; codes that we do not know have the ordinary one."""
    if code in _SIXTY_DAYS:
        return TimeFrame.SIXTY_DAYS
    return TimeFrame.AGREED if code in _AGREED else TimeFrame.TWO_BANKING_DAYS


def return_due(code: str, settled: date) -> date | None:
    """The banking day on which the last timely return of an entry settles; None without a limit."""
    frame = time_frame(code)
    if frame is TimeFrame.TWO_BANKING_DAYS:
        return return_due_date(settled)
    return unauthorized_return_due_date(settled) if frame is TimeFrame.SIXTY_DAYS else None


def is_late(code: str, *, settled: date | None, returned: date) -> bool:
    """Whether a return that settles on `returned` came after its time. One that comes before we
    know of the settlement is not late."""
    due = return_due(code, settled) if settled else None
    return due is not None and returned > due


def dishonor_due(returned: date) -> date:
    """The last day on which our bank may dishonor a return that settled on `returned`."""
    return add_banking_days(returned, DISHONOR_BANKING_DAYS)


def change_due(notified: date) -> date:
    """By when a notification of change has to be applied to what is sent."""
    return add_banking_days(notified, CHANGE_BANKING_DAYS)


def refusal_due(notified: date) -> date:
    """The last day on which a notification of change may be refused."""
    return notified + timedelta(days=REFUSAL_CALENDAR_DAYS)


def reversal_due(settled: date) -> date:
    """The last day on which a reversal may reach the bank of the account holder."""
    return add_banking_days(settled, REVERSAL_BANKING_DAYS)


def retry_due(settled: date) -> date:
    """The last day on which an entry that came back for want of funds may settle once more, by the
    settlement of the first."""
    return settled + RETRY_WITHIN


def review_due(now: datetime) -> date:
    """By when a person should have looked at something that came in `now`."""
    return add_banking_days(eastern_day(now), REVIEW_BANKING_DAYS)


def eastern_day(now: datetime) -> date:
    """The banks' calendar day of an instant."""
    return bank_clock.at_bank(now).astimezone(EASTERN).date()
