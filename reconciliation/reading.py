"""The work on files of bank statements that are stored: one after the other, each under a lease."""

from __future__ import annotations

import time
from datetime import datetime, timedelta

import structlog

from common import leases
from common.database.job_doors import by
from common.database.jobs import WORKER
from networks.ach import rails
from networks.ach.models import InFile
from networks.ach.models.inbound import InFolder
from networks.ach.models.rails import RailPart
from reconciliation import accounts, taking

log = structlog.get_logger(__name__)

# A file of a million lines is written in one transaction, which takes minutes.
LEASE = timedelta(minutes=15)
SECONDS_AT_ONCE = 45.0  # after which no other file is begun
_WAITS = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=15), timedelta(hours=1))
_SWITCHED_OFF = timedelta(minutes=1)


@by(WORKER)
def read_due(*, now: datetime) -> int:
    """Take the statements that are due; returns how many files were worked on.

    A file that fails is tried again later, and holds up no other one. Statements of a rail that has
    no settlement account wait until it has one.
    """
    started, done = time.monotonic(), 0
    queued = InFile.objects.filter(InFile.QUEUED, folder=InFolder.STATEMENTS)
    while time.monotonic() - started < SECONDS_AT_ONCE:
        files = leases.claim(queued, now=now, limit=1, lease=LEASE, since=started)
        if not files:
            break
        _read_safely(files[0], now)
        done += 1
    return done


def _read_safely(file: InFile, now: datetime) -> None:
    if rails.is_stopped(file.rail_id, RailPart.READING):
        leases.finish(file, next_attempt_at=now + _SWITCHED_OFF)
        return
    if not accounts.has_any(file.rail_id):
        leases.finish(file)
        return
    try:
        taking.take(file, now=now)
    except Exception:
        wait = _WAITS[min(file.attempts, len(_WAITS)) - 1]
        log.exception("bank_statements_not_read", file_id=file.pk, attempts=file.attempts)
        leases.finish(file, next_attempt_at=now + wait)
