"""Work on a row at a bank that may take minutes: its lease is kept as long as it moves on.

A worker that dies gives its row back when one lease is over, however long the work would have
taken; one that sleeps past its lease ends at its next step.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta

from common import leases
from common.leases import Leased
from networks.ach.sftp.errors import TooSlow

# How long the work on one row may last. Tasks that do it may last longer (`tasks`).
SECONDS_MAX = 25 * 60.0
# A lease is longer than a step over the line, and is renewed this often between steps.
LEASE = timedelta(minutes=5)
RENEWED_EVERY = 20.0  # seconds
_STEP_TO_SPARE = timedelta(minutes=1)


class LeaseLost(Exception):
    """Somebody else has the row now, or a person decided about it."""


def clock_from(now: datetime) -> Callable[[], datetime]:
    """What tells the time from `now` on, in full seconds, whatever becomes of the time of day."""
    began = time.monotonic()
    return lambda: now + timedelta(seconds=int(time.monotonic() - began))


def lease_of(step: timedelta) -> timedelta:
    """The lease where one step over the line may take this long."""
    return max(LEASE, step + _STEP_TO_SPARE)


class LongWork:
    """What one worker does with a row that it has claimed at `now` for `lease`."""

    def __init__(self, row: Leased, *, now: datetime, lease: timedelta) -> None:
        self._row = row
        self._clock = clock_from(now)
        self._lease = lease
        self._began = self._renewed = time.monotonic()
        self._may_end = True

    @property
    def now(self) -> datetime:
        """When it is, counted from when the work began: in full seconds."""
        return self._clock()

    def go_on(self) -> None:
        """Take the lease for as long as steps may take here. Raises LeaseLost."""
        self._renew()

    def watch(self) -> None:
        """Go on, before each step. Raises LeaseLost, and TooSlow when the time is over."""
        moment = time.monotonic()
        if self._may_end and moment - self._began > SECONDS_MAX:
            raise TooSlow
        if moment - self._renewed >= RENEWED_EVERY:
            self._renew()

    def go_to_the_end(self) -> None:
        """From here on it is worse to stop than to be late. Raises LeaseLost."""
        self._may_end = False
        self._renew()

    def _renew(self) -> None:
        if not leases.renew(self._row, now=self.now, lease=self._lease):
            raise LeaseLost
        self._renewed = time.monotonic()
