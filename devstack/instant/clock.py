"""The operator's clock: the real one, ahead by as much as it was moved. It never goes back."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta


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
        """Set the clock to a later instant; an earlier one leaves it as it is."""
        ahead = moment - datetime.now(UTC)
        if ahead > self._ahead:
            self._ahead = ahead
            self._db.execute(
                "REPLACE INTO setting VALUES ('clock_ahead', ?)", (str(ahead.total_seconds()),)
            )


def target(now: datetime, *, to: str = "", seconds: float = 0) -> datetime:
    """Where a move leads. `to` is an instant with its zone. Raises BadMove."""
    moment = read(to) if to else now + timedelta(seconds=seconds)
    if moment.tzinfo is None:
        raise BadMove("an instant needs its time zone")
    if moment < now:
        raise BadMove("the clock does not go back")
    return moment
