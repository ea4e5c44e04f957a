"""What to think of the last ledger check."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from balance.figures import CheckRun

# It runs every 15 minutes.
OLD_AFTER = timedelta(hours=1)


@dataclass(frozen=True)
class CheckLine:
    """The run, a tone and a verdict in a few words."""

    run: CheckRun | None
    tone: str
    words: str


def check_line(run: CheckRun | None, now: datetime) -> CheckLine:
    """The verdict on the newest run."""
    if run is None:
        return CheckLine(run, "warn", "Never run")
    is_old = now - run.started_at > OLD_AFTER
    if run.ok is None:
        return CheckLine(run, "warn" if is_old else "info", "Did not end" if is_old else "Running")
    if not run.ok:
        many = "findings" if run.findings > 1 else "finding"
        return CheckLine(run, "bad", f"{run.findings} {many}")
    if is_old:
        return CheckLine(run, "warn", "Proven, but too long ago")
    return CheckLine(run, "good", "Proven")
