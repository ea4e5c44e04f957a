"""The work on files from banks that are stored: one after the other, each under a lease.

A file that takes longer than a task may last is put down and taken up again where it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta

import structlog

from common import leases
from common.database.job_doors import by
from common.database.jobs import WORKER
from networks.ach import rails
from networks.ach.inbound import acknowledgments, applying, parsing
from networks.ach.models import InFile
from networks.ach.models.inbound import InFolder
from networks.ach.models.rails import RailPart
from networks.ach.states import InFileStatus

log = structlog.get_logger(__name__)

LEASE = timedelta(minutes=5)
SECONDS_AT_ONCE = 45.0  # of the 90 that a task may last
_WAITS = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=15), timedelta(hours=1))
_SWITCHED_OFF = timedelta(minutes=1)


@by(WORKER)
def read_due(*, now: datetime) -> int:
    """Read what is due for up to `SECONDS_AT_ONCE`; returns how many files were worked on.

    Bank statements are read elsewhere (`reconciliation`).
    A file that fails is tried again later, and holds up no other one.
    """
    started = time.monotonic()
    done = 0
    while not _is_over(started):
        files = leases.claim(
            InFile.objects.filter(InFile.QUEUED).exclude(folder=InFolder.STATEMENTS),
            now=now,
            limit=1,
            lease=LEASE,
            since=started,
        )
        if not files:
            break
        _read_safely(files[0], lambda: _is_over(started), now)
        done += 1
    return done


def _is_over(started: float) -> bool:
    return time.monotonic() - started > SECONDS_AT_ONCE


def _read_safely(file: InFile, is_over: Callable[[], bool], now: datetime) -> None:
    if rails.is_stopped(file.rail_id, RailPart.READING):
        leases.finish(file, next_attempt_at=now + _SWITCHED_OFF)
        return
    try:
        is_done = read(file, is_over=is_over, now=now)
    except Exception:
        wait = _WAITS[min(file.attempts, len(_WAITS)) - 1]
        log.exception("ach_file_not_read", file_id=file.pk, attempts=file.attempts)
        leases.finish(file, next_attempt_at=now + wait)
        return
    leases.finish(file, next_attempt_at=None if is_done else now)


def read(file: InFile, *, is_over: Callable[[], bool] = lambda: False, now: datetime) -> bool:
    """Read and apply a file; false if there is more to do, because the time is over.

    Raises common.crypto.Undecryptable, networks.ach.rails.NoTerms.
    """
    terms = rails.current(file.rail_id).parsed
    if file.folder == InFolder.ACK:
        # A worker that died after its last word on it left it due.
        if file.status == InFileStatus.STORED:
            acknowledgments.read(file, terms=terms, now=now)
        return True
    if file.status == InFileStatus.STORED and not parsing.parse(
        file, excused=terms.excused_faults, is_over=is_over, now=now
    ):
        return False
    if file.status == InFileStatus.PARSED:
        return applying.apply(file, terms=terms, is_over=is_over, now=now)
    return True
