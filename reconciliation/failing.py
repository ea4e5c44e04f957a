"""Which sweeps of reconciliation fail, at which rail, and since when.

It is in the cache: if that is lost, the next run says it again. A sweep that works says that it is
over.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

import structlog
from django.core.cache import cache

from common.clock import parse, text_of
from reconciliation import accounts

log = structlog.get_logger(__name__)

# A run may fail for once, as where two of them meet. Each sweep runs every five minutes at least.
TIME_TO_RECOVER = timedelta(minutes=15)
EVERY_RAIL = ""  # a proof is of all rails together
_KEPT_FOR_SECONDS = 86_400


class Sweep(StrEnum):
    """What fails; the words are those of its e-mail."""

    MATCHING = "matching"
    CLOSING = "closing"
    PROVING = "proving"


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A sweep that has failed in each run since a moment. `why` is what it raised last."""

    sweep: Sweep
    rail: str
    since: datetime
    why: str

    def is_late(self, now: datetime) -> bool:
        """Whether it fails for longer than a sweep may."""
        return now - self.since >= TIME_TO_RECOVER


@contextmanager
def noted(sweep: Sweep, rail: str, *, now: datetime) -> Iterator[None]:
    """Note whether what is done here fails, and go on either way: the log has all of it. What calls
    `fails` itself has failed, too."""
    before = cache.get(_key(sweep, rail))
    try:
        yield
    except Exception as error:
        log.exception("reconciliation_failed", sweep=str(sweep), rail=rail)
        fails(sweep, rail, why=type(error).__name__, now=now)
    else:
        if before and cache.get(_key(sweep, rail)) == before:
            cache.delete(_key(sweep, rail))


def fails(sweep: Sweep, rail: str, *, why: str, now: datetime) -> None:
    """Remember that a run failed, and since when each one does."""
    since, _, runs = cache.get(_key(sweep, rail)) or (text_of(now), "", 0)
    cache.set(_key(sweep, rail), [since, why, runs + 1], _KEPT_FOR_SECONDS)


def failures() -> list[Failure]:
    """The sweeps whose last run failed, by rail."""
    rails = [account.rail_id for account in accounts.in_force()]
    keys = {
        _key(sweep, rail): (sweep, rail)
        for sweep in Sweep
        for rail in ([EVERY_RAIL] if sweep is Sweep.PROVING else rails)
    }
    found = cache.get_many(keys)
    return [
        Failure(sweep=sweep, rail=rail, since=parse(found[key][0]), why=found[key][1])
        for key, (sweep, rail) in keys.items()
        if key in found
    ]


def _key(sweep: Sweep, rail: str) -> str:
    return f"reconciliation_fails:{sweep}:{rail}"
