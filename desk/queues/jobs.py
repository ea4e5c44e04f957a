"""The periodic jobs, and whether the clock that starts them still ticks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from common import ticks
from common.ticks import Tick

# One missed tick is harmless; after three somebody should look.
_MISSED_AT_MOST = 3
_GRACE_SECONDS = 10


@dataclass(frozen=True)
class JobLine:
    """One line of `config/beat.py` and its newest run, if anybody remembers one."""

    name: str
    task: str
    every: float
    last: Tick | None
    seconds_ago: int | None

    @property
    def tone(self) -> str:
        if self.last is None or self.seconds_ago is None:
            return "warn"
        if not self.last.ok:
            return "bad"
        is_late = self.seconds_ago > _MISSED_AT_MOST * self.every + _GRACE_SECONDS
        return "bad" if is_late else "good"

    @property
    def words(self) -> str:
        if self.last is None:
            return "Not seen"
        if not self.last.ok:
            return "Failed"
        return "On time" if self.tone == "good" else "Late"


def job_lines(*, now: datetime) -> list[JobLine]:
    """Every periodic job in the order of the table. One read of the cache."""
    jobs = settings.CELERY_BEAT_SCHEDULE
    runs = ticks.last(job["task"] for job in jobs.values())
    return [
        _line(name, job["task"], job["schedule"], runs.get(job["task"]), now)
        for name, job in jobs.items()
    ]


def _line(name: str, task: str, every: float, last: Tick | None, now: datetime) -> JobLine:
    ago = max(0, int((now - last.at).total_seconds())) if last else None
    return JobLine(name[0].upper() + name[1:], task, every, last, ago)
