"""One thing that a person has to decide, as the list of exceptions shows it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from common.days import start_of
from desk.items.subjects import Subject
from networks.ach import bank_clock

SOON = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class ExceptionLine:
    """`subject` is the item that `href` leads to, `amount` is in cents, and `since` says when the
    wait began. `due` is a moment, or a day of the banks, which counts to its end; None: there is no
    deadline."""

    subject: Subject
    title: str
    detail: str
    amount: int | None
    rail: str
    href: str
    to_do: str
    since: datetime | None
    due: datetime | date | None
    now: datetime

    @property
    def age(self) -> int:
        """How long it has waited, in seconds."""
        return max(0, int((self.now - self.since).total_seconds())) if self.since else 0

    @property
    def day(self) -> date | None:
        """The banks' day that the deadline ends, if it is one."""
        return None if isinstance(self.due, datetime) else self.due

    @property
    def deadline(self) -> datetime | None:
        return self.due if isinstance(self.due, datetime) else until(self.due)

    @property
    def seconds(self) -> int:
        """Until the deadline, below zero when it has passed; 0 without one."""
        return int((self.deadline - self.now).total_seconds()) if self.deadline else 0

    @property
    def tone(self) -> str:
        if self.deadline is None:
            return "neutral"
        if self.seconds <= 0:
            return "bad"
        return "warn" if self.seconds <= SOON.total_seconds() else "info"


def until(day: date | None) -> datetime | None:
    """The end of a day of the banks, in New York."""
    return bank_clock.here(start_of(day + timedelta(days=1))) if day else None
