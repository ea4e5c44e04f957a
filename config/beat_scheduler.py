"""The scheduler of Celery beat. It sends nothing while its process's clock is wrong."""

from __future__ import annotations

from typing import Any

from celery.beat import PersistentScheduler

from common import drift


class ClockedScheduler(PersistentScheduler):
    """Pauses while the clock is wrong. Once it is right again, it forgets recorded runs that are
    still to come, which would keep it from sending until then."""

    _may_know_the_future = True  # also from the file of the last run

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send what is due; returns the seconds until the next call."""
        if drift.guard.is_adrift():
            self._may_know_the_future = True
            return drift.EVERY_SECONDS_WHILE_ADRIFT
        if self._may_know_the_future:
            self._forget_the_future()
        return float(super().tick(*args, **kwargs))

    def _forget_the_future(self) -> None:
        for entry in self.schedule.values():
            now = entry.default_now()
            entry.last_run_at = min(entry.last_run_at or now, now)
        self._heap = None
        self._may_know_the_future = False
