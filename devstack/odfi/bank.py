"""The bank as a whole: what it owns, and the loop in which it works."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import sqlite3
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from devstack.odfi import client, days, faults, intake, sending, store, terms
from devstack.odfi.clock import Clock, waiting_seconds
from devstack.odfi.scripts import FAILS_TWICE

FINAL_SUFFIX = ".ach"
FAILURES = 2
WAIT_SECONDS_MAX = 3600.0
T = TypeVar("T")


class Bank:
    """Everything of one copy. One thread at a time works on the record: see `exclusively`."""

    def __init__(self, home: Path, *, clock: datetime | None = None) -> None:
        self.home = home
        self.root = home / "sftp"
        for folder in sending.FOLDERS:
            (self.root / folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        self.db = store.connect(home / "bank.sqlite3")
        if clock is not None:
            _start_clock(self.db, clock)
        self.clock = Clock(self.db)
        self.faults = faults.active(self.db)
        self.is_changed = asyncio.Event()
        self._lock = asyncio.Lock()
        self._hurried_for: tuple[datetime, float] | None = None
        self._told_time: dict[str, float] | None = None
        days.open_books(self.db, self.clock.now())

    @property
    def outbound(self) -> Path:
        return self.root / "outbound"

    async def exclusively(self, work: Callable[[], T]) -> T:
        """Do something with the record in a thread, and nothing else meanwhile."""
        async with self._lock:
            try:
                return await asyncio.to_thread(work)
            finally:
                self.faults = faults.active(self.db)
                self.tell_time()

    async def strike(self, name: str) -> int | None:
        """The value of a switch that is on, counted one time; None when it is off."""
        if name not in self.faults:
            return None
        return await self.exclusively(lambda: faults.strike(self.db, name))

    async def run(self) -> None:
        """Work for ever: whenever something was delivered or is due."""
        while True:
            self.is_changed.clear()
            pause = await self.exclusively(self._work_and_pause)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.is_changed.wait(), pause)

    def work(self) -> None:
        """Do all that can be done now: take files, do what is due, hand out."""
        self._hurry()
        self.take_files()
        days.run_due(self.db, self.clock, self.clock.now())
        sending.publish(self.db, self.root)

    def take_files(self) -> int:
        """Take every file that was delivered; gives how many."""
        count = 0
        for path in sorted(self.outbound.iterdir()):
            if not is_final(path.name) or not path.is_file():
                continue
            agreed = terms.load(self.db)
            if not intake.is_taken(self.db, path):
                with store.transaction(self.db):
                    intake.take(self.db, path, agreed, now=self.clock.now())
                count += 1
            if agreed.archives:
                archive = self.outbound / "archive"
                archive.mkdir(exist_ok=True)
                path.replace(archive / path.name)
        return count

    def move_clock(self, moment: datetime) -> int:
        """Live through everything until a later instant; gives how many instants had something."""
        self.take_files()
        count = days.run_due(self.db, self.clock, moment)
        self.clock.move_to(moment)
        sending.publish(self.db, self.root)
        return count

    def tell_time(self) -> None:
        """Write down how far the clock is ahead, for the product of the same copy."""
        told = {
            "ahead_seconds": self.clock.ahead.total_seconds(),
            "day_seconds": terms.load(self.db).day_seconds,
        }
        if told != self._told_time:
            unfinished = self.home / f"{client.CLOCK}.unfinished"
            unfinished.write_text(json.dumps(told))
            unfinished.replace(self.home / client.CLOCK)
            self._told_time = told

    def fails(self, path: Path) -> bool:
        """Whether this delivery fails because of a test account; counts it."""
        content = path.read_bytes()
        if not _names_failing_account(content):
            return False
        digest = hashlib.sha256(content).hexdigest()
        row = self.db.execute(
            "INSERT INTO outage VALUES (?, 1)"
            " ON CONFLICT (sha256) DO UPDATE SET failures = failures + 1 RETURNING failures",
            (digest,),
        ).fetchone()
        return int(row[0]) <= FAILURES

    def _work_and_pause(self) -> float:
        """Work, and give the seconds until there is something to do by itself."""
        self.work()
        due = days.next_due(self.db)
        if due is None:
            return WAIT_SECONDS_MAX
        return min(self._waiting_for(due), WAIT_SECONDS_MAX)

    def _waiting_for(self, due: datetime) -> float:
        """Seconds until something due is done; remembers since when a hurrying bank waits."""
        day_seconds = terms.load(self.db).day_seconds if days.has_work(self.db) else 0.0
        wait = waiting_seconds(self.clock.now(), due, day_seconds)
        if not day_seconds:
            self._hurried_for = None
            return wait
        now = time.monotonic()
        if self._hurried_for is None or self._hurried_for[0] != due:
            self._hurried_for = (due, now + wait)
        return max(0.0, self._hurried_for[1] - now)

    def _hurry(self) -> None:
        """Set the clock to what a hurrying bank has waited for long enough."""
        if self._hurried_for is not None:
            due, since = self._hurried_for
            if time.monotonic() >= since and days.next_due(self.db) == due:
                self.clock.move_to(due)
                self._hurried_for = None


def is_final(name: str) -> bool:
    """Whether a delivered file has the name under which it is taken; any other is temporary."""
    return name.endswith(FINAL_SUFFIX) and not name.startswith(".")


def _start_clock(db: sqlite3.Connection, moment: datetime) -> None:
    """Set the clock of a new bank to any instant; an old one keeps its own."""
    ahead = moment - datetime.now(moment.tzinfo)
    db.execute(
        "INSERT OR IGNORE INTO setting VALUES ('clock_ahead', ?)", (str(ahead.total_seconds()),)
    )


def _names_failing_account(content: bytes) -> bool:
    wanted = FAILS_TWICE.encode()
    if wanted not in content:
        return False
    packed = content.replace(b"\r", b"").replace(b"\n", b"")
    return any(
        packed[start] == ord("6") and packed[start + 12 : start + 29].strip().endswith(wanted)
        for start in range(0, len(packed) - 93, 94)
    )
