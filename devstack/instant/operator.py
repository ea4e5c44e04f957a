"""The operator as a whole: what it owns, who may work on it, and what it does by itself."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from devstack.instant import (
    credits,
    directory,
    faults,
    outbox,
    payments,
    requests,
    statements,
    store,
    taking,
    terms,
)
from devstack.instant.clock import Clock, read
from devstack.instant.profiles import PROFILES, Profile
from devstack.instant.speaking import Desk
from devstack.instant.taking import Outcome

PAUSE_SECONDS_MAX = 3600.0


class Operator:
    """Everything of one copy. One thread at a time works on the record."""

    def __init__(
        self, home: Path, *, clock: datetime | None = None, statements_folder: Path | None = None
    ) -> None:
        self.home = home
        self.statements = statements_folder or home / "statements"
        self.statements.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.db = store.connect(home / "operator.sqlite3")
        if clock is not None:
            _start_clock(self.db, clock)
        self.clock = Clock(self.db)
        self._changed = threading.Condition(threading.RLock())
        self._is_stopped = False

    def open_books(self) -> None:
        """Before the first message: participants, positions, the first cycle days."""
        with self.working():
            directory.open_books(self.db, terms.load(self.db))
            for profile in PROFILES.values():
                statements.open_books(self.desk(profile))
        directory.publish(self.db, self.home)

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """One transaction on the record, alone; whoever waits looks again afterwards."""
        with self._changed:
            with store.transaction(self.db):
                yield
            self._changed.notify_all()

    @contextlib.contextmanager
    def looking(self) -> Iterator[sqlite3.Connection]:
        """The record, which nobody changes meanwhile."""
        with self._changed:
            yield self.db

    def desk(self, profile: Profile) -> Desk:
        return Desk(self.db, profile, terms.load(self.db), self.clock.now())

    def take(self, profile: Profile, content: bytes) -> Outcome:
        """Take a message of the participant. Raises Unreadable."""
        with self.working():
            return taking.take(self.desk(profile), content)

    def fetch(self, profile: Profile, *, limit: int, wait: float) -> list[sqlite3.Row]:
        """What waits for the participant; waits that many seconds until there is something."""
        deadline = time.monotonic() + wait
        with self._changed:
            while not self._is_stopped:
                with store.transaction(self.db):
                    found = outbox.waiting(self.db, profile.name, limit=limit)
                left = deadline - time.monotonic()
                if found or left <= 0:
                    return found
                self._changed.wait(left)
        return []

    def acknowledge(self, profile: Profile, ids: list[int]) -> int:
        with self.working():
            return outbox.acknowledge(self.db, profile.name, ids, now=self.clock.now())

    def strike(self, name: str) -> int | None:
        """The value of a switch that is on, counted one time; None when it is off."""
        with self.looking():
            if name not in faults.active(self.db):
                return None
            with store.transaction(self.db):
                return faults.strike(self.db, name)

    def move_clock(self, moment: datetime) -> int:
        """Live through everything until a later instant; gives how many things happened."""
        with self._changed:
            count = self._do_due(moment)
            with store.transaction(self.db):
                self.clock.move_to(moment)
            self._changed.notify_all()
        return count

    def next_due(self) -> datetime | None:
        row = self.db.execute("SELECT min(due_at) FROM job").fetchone()
        return read(row[0]) if row[0] else None

    def run(self) -> None:
        """Do what is due, until `stop`."""
        with self._changed:
            while not self._is_stopped:
                if self._do_due(self.clock.now()):
                    self._changed.notify_all()
                self._changed.wait(self._pause())

    def stop(self) -> None:
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()

    def _pause(self) -> float:
        due = self.next_due()
        if due is None:
            return PAUSE_SECONDS_MAX
        seconds = (due - self.clock.now()).total_seconds()
        return min(max(0.0, seconds), PAUSE_SECONDS_MAX)

    def _do_due(self, until: datetime) -> int:
        """Each thing in a transaction of its own, at the time at which it is due."""
        count = 0
        while (due := self.next_due()) is not None and due <= until:
            with store.transaction(self.db):
                self.clock.move_to(due)
                self._do_one()
            statements.publish(self.db, self.statements)
            count += 1
        return count

    def _do_one(self) -> None:
        job = self.db.execute("SELECT * FROM job ORDER BY due_at, id LIMIT 1").fetchone()
        self.db.execute("DELETE FROM job WHERE id = ?", (job["id"],))
        data = json.loads(job["data"])
        desk = self.desk(PROFILES[data.pop("profile")])
        _JOBS[job["kind"]](desk, job["subject"], **data)


def _start_clock(db: sqlite3.Connection, moment: datetime) -> None:
    """Set the clock of a new operator to any instant; an old one keeps its own."""
    ahead = moment - datetime.now(moment.tzinfo)
    db.execute(
        "INSERT OR IGNORE INTO setting VALUES ('clock_ahead', ?)", (str(ahead.total_seconds()),)
    )


_JOBS: MappingProxyType[str, Callable[..., None]] = MappingProxyType(
    {
        "answer": payments.answer,
        "posted": payments.posted,
        "sent_back": payments.sent_back,
        "lapse": credits.lapse,
        "pay_late": requests.pay_late,
        "statement": statements.close,
    }
)
