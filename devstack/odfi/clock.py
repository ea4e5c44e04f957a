"""The bank's clock. It can be moved forward, and hurries from one thing to do to the next where a
banking day is to pass in seconds.

It runs as the real one does, ahead of it by as much as it was moved. It never goes back.
"""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta

from devstack.odfi import calendar

SECONDS_A_DAY = 86_400


class BadMove(ValueError):
    """The clock cannot be moved so."""


def written(moment: datetime) -> str:
    """How instants are stored: sortable, in UTC."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def read(text: str) -> datetime:
    return datetime.fromisoformat(text)


class Clock:
    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        row = db.execute("SELECT value FROM setting WHERE name = 'clock_ahead'").fetchone()
        self._ahead = timedelta(seconds=float(row[0])) if row else timedelta(0)

    @property
    def ahead(self) -> timedelta:
        """By how much it was moved."""
        return self._ahead

    def now(self) -> datetime:
        return datetime.now(UTC) + self._ahead

    def move_to(self, moment: datetime) -> None:
        """Set the clock to a later instant, within the caller's transaction or by itself. An
        earlier one leaves it as it is."""
        ahead = moment - datetime.now(UTC)
        if ahead > self._ahead:
            self._ahead = ahead
            self._db.execute(
                "REPLACE INTO setting VALUES ('clock_ahead', ?)", (str(ahead.total_seconds()),)
            )


def target(now: datetime, *, to: str = "", seconds: float = 0, banking_days: int = 0) -> datetime:
    """Where a move leads. `to` is an instant with its zone. Raises BadMove."""
    if to:
        moment = read(to)
        if moment.tzinfo is None:
            raise BadMove("an instant needs its time zone")
    else:
        moment = now + timedelta(seconds=seconds)
        if banking_days:
            here = calendar.local(moment)
            moment = calendar.instant(calendar.plus(here.date(), banking_days), here.time())
    if moment < now:
        raise BadMove("the clock does not go back")
    return moment


def waiting_seconds(now: datetime, due: datetime, day_seconds: float) -> float:
    """How long to wait in real time for something due, if a banking day takes `day_seconds`.

    Weekends and holidays take no time. With 0 the clock does not hurry.
    """
    if due <= now:
        return 0
    if not day_seconds:
        return (due - now).total_seconds()
    here, there = calendar.local(now), calendar.local(due)
    days = calendar.banking_days_between(here.date(), there.date())
    within = _seconds_of(there) - _seconds_of(here)
    return max(0.0, (days + within / SECONDS_A_DAY) * day_seconds)


def _seconds_of(moment: datetime) -> int:
    return moment.hour * 3600 + moment.minute * 60 + moment.second
