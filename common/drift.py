"""Compares this process's clock with the database's, and says whether to trust it (decision 0120).

A process whose clock is wrong by more than `CLOCK_DRIFT_SECONDS_MAX` logs that and pauses until the
clock is right again. A call usually costs two readings of clocks. The database is asked every few
seconds, and at once when this machine's time of day jumps.
"""

from __future__ import annotations

import threading
import time
from datetime import timedelta

import structlog
from django.conf import settings
from django.db import Error as DatabaseProblem
from prometheus_client import Gauge

from common import clock
from common.engine import sql

log = structlog.get_logger(__name__)

EVERY_SECONDS = 10.0
EVERY_SECONDS_WHILE_ADRIFT = 1.0
# How far the time of day may run ahead of the monotonic clock before the database is asked again.
JUMP_SECONDS = 1.0

_ASK = "SELECT ballast_now(), ballast_clock_is_settable()"
_DRIFT = Gauge(
    "ballast_clock_drift_seconds",
    "How far this process's clock is from the database's",
    multiprocess_mode="livemax",
)


class Guard:
    """What one process knows about its clock. Its threads share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked_at: float | None = None  # monotonic
        self._offset = 0.0  # of the time of day to the monotonic one, when it was asked
        self._adrift = False
        self.reason = ""

    def is_adrift(self) -> bool:
        """Whether to pause. May ask the database, so never call it in a broken transaction.

        While the database does not answer, the last answer counts.
        """
        if settings.CLOCK_DRIFT_SECONDS_MAX is None:
            return False
        if self._is_time():
            with self._lock:
                if self._is_time():
                    self._ask()
        return self._adrift

    def _is_time(self) -> bool:
        if self._asked_at is None:
            return True
        pause = EVERY_SECONDS_WHILE_ADRIFT if self._adrift else EVERY_SECONDS
        has_jumped = abs(_offset() - self._offset) > JUMP_SECONDS
        return has_jumped or time.monotonic() - self._asked_at >= pause

    def _ask(self) -> None:
        try:
            drift, is_settable = _measure()
        except DatabaseProblem as error:
            log.warning("clock_not_compared", error=type(error).__name__)
            return
        self._asked_at, self._offset = time.monotonic(), _offset()
        _DRIFT.set(drift)
        self._judge(drift, is_settable=is_settable)

    def _judge(self, drift: float, *, is_settable: bool) -> None:
        was_adrift, self.reason = self._adrift, ""
        limit = settings.CLOCK_DRIFT_SECONDS_MAX
        if limit is not None and drift > limit:
            apart = timedelta(seconds=round(drift))
            self.reason = f"this process's clock and the database's differ by {apart}"
        elif is_settable and not settings.SETTABLE_DATABASE_CLOCK:
            self.reason = "the database obeys a time that is set, which only development may"
        self._adrift = bool(self.reason)
        if self._adrift and not was_adrift:
            log.error("clock_adrift", drift_seconds=round(drift, 1), reason=self.reason)
        elif was_adrift and not self._adrift:
            log.info("clock_right_again", drift_seconds=round(drift, 1))


def is_apart(seconds: float) -> bool:
    """Whether this process's clock and the database's differ by more than this, asked now: for what
    needs a better clock than `guard` does. Never where clocks are not compared at all."""
    if settings.CLOCK_DRIFT_SECONDS_MAX is None:
        return False
    drift, _ = _measure()
    return drift > seconds


def _measure() -> tuple[float, bool]:
    """How many seconds apart the two clocks are, and whether the database's can be set."""
    before = clock.utc_now()
    ((theirs, is_settable),) = sql.rows(_ASK, {})
    after = clock.utc_now()
    # The answer took a while. There is no drift if the database's time lies within that while.
    drift = max(before - theirs, theirs - after, timedelta(0))
    return drift.total_seconds(), bool(is_settable)


def _offset() -> float:
    return clock.utc_now().timestamp() - time.monotonic()


guard = Guard()
