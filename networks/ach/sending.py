"""Puts released files at the bank, each once.

A worker claims a file, and the transport writes it under a temporary name. Before the rename that
name is committed: from then on the file may be at the bank, and every later attempt asks the bank's
listing first. Calls of the transport are made outside of transactions.

Right before the rename is asked for, the worker looks once more whether the file is still its own
to send: it may have slept past its lease, and people may have given the file up meanwhile. What is
left is a worker that sleeps that long between that look and the rename's arrival at the bank.

What fails and does not pass by itself leaves the file stuck (`stuck_code`): it is not tried again
before a person says so, once the cause is removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Protocol

import structlog
from django.db import transaction
from django.db.models import Q, QuerySet
from prometheus_client import Counter

from common import crypto, database_clock, leases
from common.database.job_doors import by
from common.database.jobs import WORKER
from common.engine import sql
from networks.ach import long_work, rails
from networks.ach.errors import FileInAnotherStatus, FileIsGoing, FileNotThere
from networks.ach.long_work import LeaseLost, LongWork
from networks.ach.models import OutFile
from networks.ach.models.rails import RailPart
from networks.ach.sealing import opened
from networks.ach.sftp.errors import SftpError, SourceDiffers
from networks.ach.states import FILE_STATES, FileStatus
from networks.ach.terms import AckFormat, RailTerms

log = structlog.get_logger(__name__)

SOON = timedelta(seconds=30)
LATER = timedelta(minutes=10)
_FAILED = Counter(
    "ballast_ach_sending_failed", "Attempts to send a file that failed", ["rail", "code"]
)
_SENT_BATCH = """
WITH sent AS (
    UPDATE ach_achentry SET status = 'sent', sent_at = %(now)s
    WHERE batch_id = %(batch)s AND status = 'frozen' RETURNING 1
)
SELECT count(*) FROM sent
"""


class Transport(Protocol):
    """What puts a file at the bank. `networks.ach.sftp.bank.Bank` says what it does and raises. It
    calls `watch` before each step, so also right before the rename, behind `before_rename`."""

    def deliver(
        self,
        folder: str,
        name: str,
        chunks: Iterable[bytes],
        *,
        size: int,
        sha256: str,
        before_rename: Callable[[str], None],
        vanished: Callable[[str], None],
        in_doubt: str,
        watch: Callable[[], None],
    ) -> bool: ...


@by(WORKER)
@database_clock.judged
def send_next(rail: str, transport: Transport, *, now: datetime) -> str | None:
    """Send the released file that is due first. Its id, or None if there is nothing to send.

    An SftpError of the transport is noted on the file, which is tried again later or is stuck.
    """
    if rails.is_stopped(rail, RailPart.SENDING):
        return None
    for file in leases.claim(_due(rail, now), now=now, limit=1, lease=long_work.LEASE):
        _send(file, transport, now)
        return file.pk
    return None


@by(WORKER)
def has_due(rail: str, *, now: datetime) -> bool:
    """Whether a file waits to be sent, so that it is worth a connection."""
    if rails.is_stopped(rail, RailPart.SENDING):
        return False
    return _due(rail, now).filter(leases.is_due(now)).exists()


def sent(file_id: str, *, now: datetime) -> bool:
    """Note that the bank has the file: after it was delivered, or when it is acknowledged. False if
    that was known, or the file never got so far."""
    with transaction.atomic(durable=True):
        file = _locked(file_id)
        if file is None or not file.is_in_doubt:
            return False
        _note_sent(file, now)
    return True


@transaction.atomic
def at_bank(file_id: str, *, now: datetime) -> OutFile:
    """The bank says that it has a file whose sending is in doubt. Raises StaffRefusal."""
    file = in_doubt(file_id)
    _note_sent(file, now)
    return file


@transaction.atomic
def not_at_bank(file_id: str, *, now: datetime) -> OutFile:
    """The bank says that it does not have a file whose sending is in doubt: it is sent again, or
    misses its cut-off. Raises StaffRefusal."""
    file = in_doubt(file_id)
    file.temporary_name = ""
    _go_on(file, now)
    return file


@transaction.atomic
def try_again(file_id: str, *, now: datetime) -> OutFile:
    """Send a file that is stuck, because what kept it was mended. Raises StaffRefusal."""
    file = _locked(file_id)
    if file is None:
        raise FileNotThere(file_id)
    if file.status != FileStatus.RELEASED or not file.stuck_code:
        raise FileInAnotherStatus("It is not stuck.")
    _go_on(file, now)
    return file


def _locked(file_id: str) -> OutFile | None:
    rows = OutFile.objects.select_for_update(no_key=True, of=("self",))
    return rows.select_related("version").filter(pk=file_id).first()


def in_doubt(file_id: str) -> OutFile:
    file = _locked(file_id)
    if file is None:
        raise FileNotThere(file_id)
    if not file.is_in_doubt:
        raise FileInAnotherStatus("Its sending is not in doubt.")
    if file.leased_until is not None and file.leased_until > database_clock.database_now():
        raise FileIsGoing("A worker is sending it.")
    return file


def _go_on(file: OutFile, now: datetime) -> None:
    file.stuck_code, file.stuck_at, file.next_attempt_at = "", None, now
    file.lease_version += 1
    columns = ("temporary_name", "stuck_code", "stuck_at", "next_attempt_at", "lease_version")
    file.save(update_fields=columns)


def _note_sent(file: OutFile, now: datetime) -> None:
    for batch in file.batches.order_by("batch_number").values_list("pk", flat=True):
        sql.rows(_SENT_BATCH, {"batch": batch, "now": now})
    FILE_STATES.advance(
        file,
        FileStatus.SENT,
        sent_at=now,
        acknowledgment_due_at=now + _answered_within(file.version.parsed),
        **OutFile.NOT_DUE,
    )
    log.info("ach_file_sent", file=file.pk, rail=file.rail_id)


def _due(rail: str, now: datetime) -> QuerySet[OutFile]:
    """What has missed its cut-off is taken apart, unless it may be at the bank."""
    return OutFile.objects.filter(
        Q(cutoff_at__gt=now) | ~Q(temporary_name=""), rail_id=rail, status=FileStatus.RELEASED
    ).select_related("version")


def _answered_within(terms: RailTerms) -> timedelta:
    return terms.accept_after if terms.ack_format == AckFormat.NONE else terms.ack_within


def _send(file: OutFile, transport: Transport, now: datetime) -> None:
    line = file.version.parsed.connection
    work = LongWork(file, now=now, lease=long_work.lease_of(line.idle_timeout))
    attempt = _Attempt(file, work)
    try:
        work.go_on()
        transport.deliver(
            line.folders.outbound,
            file.remote_name,
            _content(file.pk),
            size=file.size,
            sha256=file.sha256,
            before_rename=attempt.note_doubt,
            vanished=lambda name: _note_vanished(file, name),
            in_doubt=file.temporary_name,
            watch=attempt.watch,
        )
    except LeaseLost:
        log.info("ach_file_not_ours", file=file.pk)
    except SftpError as error:
        _note_failure(file, error, work.now)
    else:
        sent(file.pk, now=work.now)


class _Attempt:
    """What one worker that has claimed a file may do, from step to step."""

    def __init__(self, file: OutFile, work: LongWork) -> None:
        self._file = file
        self._work = work
        self._temporary_name = ""  # once its rename may be asked for

    def note_doubt(self, temporary_name: str) -> None:
        """From here on the file may be at the bank. Raises LeaseLost: it does not get there."""
        if rails.is_stopped(self._file.rail_id, RailPart.SENDING):
            raise LeaseLost
        self._work.go_to_the_end()
        mine = self._mine(_due(self._file.rail_id, self._work.now))
        if not mine.update(temporary_name=temporary_name):
            raise LeaseLost
        self._temporary_name = temporary_name

    def watch(self) -> None:
        """Go on, before each step. Before the rename the lease is always renewed, and the file must
        be as it was. Raises LeaseLost, and TooSlow."""
        if not self._temporary_name:
            self._work.watch()
            return
        self._work.go_to_the_end()
        mine = self._mine(OutFile.objects.filter(status=FileStatus.RELEASED))
        if not mine.filter(temporary_name=self._temporary_name).exists():
            raise LeaseLost

    def _mine(self, rows: QuerySet[OutFile]) -> QuerySet[OutFile]:
        return rows.filter(pk=self._file.pk, lease_version=self._file.lease_version)


def _content(file_id: str) -> Iterator[bytes]:
    """Raises SourceDiffers if what is stored does not open."""
    try:
        yield from opened(file_id)
    except crypto.Undecryptable as error:
        raise SourceDiffers from error


def _note_vanished(file: OutFile, temporary_name: str) -> None:
    """The bank may have taken it from under its temporary name, whatever was decided meanwhile."""
    mine = OutFile.objects.filter(pk=file.pk, lease_version=file.lease_version)
    if not mine.update(temporary_name=temporary_name):
        log.error("ach_file_vanished", file=file.pk, rail=file.rail_id)


def _note_failure(file: OutFile, error: SftpError, now: datetime) -> None:
    _FAILED.labels(rail=file.rail_id, code=error.code).inc()
    if error.is_passing:
        log.warning("ach_file_not_sent", file=file.pk, rail=file.rail_id, code=error.code)
        leases.finish(file, next_attempt_at=now + SOON * min(file.attempts, LATER // SOON))
    else:
        log.error("ach_file_stuck", file=file.pk, rail=file.rail_id, code=error.code)
        leases.finish(file, stuck_code=error.code, stuck_at=now)
