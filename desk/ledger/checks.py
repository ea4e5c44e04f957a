"""The verdict on the last ledger check: clean, late or broken, in a few words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from balance.figures import CheckRun

# It runs every 15 minutes.
OLD_AFTER = timedelta(hours=1)
# Every tenant is proven from its first row within a day.
PROOF_OLD_AFTER = timedelta(hours=26)


@dataclass(frozen=True)
class ProofLine:
    """Since when every tenant was proven from its first row, and whether that is too long ago."""

    since: datetime
    is_old: bool


def proof_line(oldest: datetime | None, now: datetime) -> ProofLine | None:
    """How old the oldest proof is; None where there is no tenant."""
    return None if oldest is None else ProofLine(oldest, now - oldest > PROOF_OLD_AFTER)


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
