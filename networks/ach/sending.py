"""Puts released files at the bank, each once.

A worker claims a file, and the transport writes it under a temporary name. Before the rename that
name is committed: from then on the file may be at the bank, and every later attempt asks the bank's
listing first. Calls of the transport are made outside of transactions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Protocol

import structlog
from django.db import transaction
from django.db.models import Q, QuerySet
from prometheus_client import Counter

from common import database_clock, leases
from common.engine import sql
from networks.ach import rails
from networks.ach.errors import FileInAnotherStatus, FileIsGoing, FileNotThere
from networks.ach.models import OutFile
from networks.ach.models.rails import RailPart
from networks.ach.sealing import opened
from networks.ach.sftp.errors import SftpError
from networks.ach.states import FILE_STATES, FileStatus
from networks.ach.terms import AckFormat, RailTerms

log = structlog.get_logger(__name__)

# Longer than a worker's task, so that nobody delivers a file that another one still does.
LEASE = timedelta(minutes=5)
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
    """What puts a file at the bank. `networks.ach.sftp.bank.Bank` says what it does and raises."""

    def deliver(
        self,
        folder: str,
        name: str,
        chunks: Iterable[bytes],
        *,
        size: int,
        sha256: str,
        before_rename: Callable[[str], None],
        in_doubt: str = "",
    ) -> bool: ...


class NotOurs(Exception):
    """Somebody else has the file now, or it was held."""


@database_clock.judged
def send_next(rail: str, transport: Transport, *, now: datetime) -> str | None:
    """Send the released file that is due first. Its id, or None if there is nothing to send.

    An SftpError of the transport is noted, and the file is tried again later.
    """
    if rails.is_stopped(rail, RailPart.SENDING):
        return None
    for file in leases.claim(_due(rail, now), now=now, limit=1, lease=LEASE):
        _send(file, transport, now)
        return file.pk
    return None


def has_due(rail: str, *, now: datetime) -> bool:
    """Whether a file waits to be sent, so that it is worth a connection."""
    if rails.is_stopped(rail, RailPart.SENDING):
        return False
    return _due(rail, now).filter(leases.is_due(now)).exists()


def sent(file_id: str, *, now: datetime) -> bool:
    """Note that the bank has the file: after it was delivered, or when it is acknowledged. False if
    that was known, or the file never got so far."""
    with transaction.atomic(durable=True):
        file = (
            OutFile.objects.select_for_update(no_key=True, of=("self",))
            .select_related("version")
            .get(pk=file_id)
        )
        if file.status != FileStatus.RELEASED or not file.temporary_name:
            return False
        for batch in file.batches.order_by("batch_number").values_list("pk", flat=True):
            sql.rows(_SENT_BATCH, {"batch": batch, "now": now})
        FILE_STATES.advance(
            file,
            FileStatus.SENT,
            sent_at=now,
            acknowledgment_due_at=now + _answered_within(file.version.parsed),
            next_attempt_at=None,
            leased_until=None,
        )
    log.info("ach_file_sent", file=file_id, rail=file.rail_id)
    return True


@transaction.atomic
def not_at_bank(file_id: str, *, now: datetime) -> OutFile:
    """The bank says that it does not have a file whose sending is in doubt: it is sent again, or
    misses its cut-off. Raises StaffRefusal."""
    file = OutFile.objects.select_for_update(no_key=True).filter(pk=file_id).first()
    if file is None:
        raise FileNotThere(file_id)
    if file.status != FileStatus.RELEASED or not file.temporary_name:
        raise FileInAnotherStatus("Its sending is not in doubt.")
    if file.leased_until is not None and file.leased_until > database_clock.database_now():
        raise FileIsGoing("A worker is sending it.")
    file.temporary_name, file.next_attempt_at = "", now
    file.lease_version += 1
    file.save(update_fields=["temporary_name", "next_attempt_at", "lease_version"])
    return file


def _due(rail: str, now: datetime) -> QuerySet[OutFile]:
    """What has missed its cut-off is taken apart, unless it may be at the bank."""
    return OutFile.objects.filter(
        Q(cutoff_at__gt=now) | ~Q(temporary_name=""), rail_id=rail, status=FileStatus.RELEASED
    ).select_related("version")


def _answered_within(terms: RailTerms) -> timedelta:
    return terms.accept_after if terms.ack_format == AckFormat.NONE else terms.ack_within


def _send(file: OutFile, transport: Transport, now: datetime) -> None:
    folder = file.version.parsed.connection.folders.outbound
    try:
        transport.deliver(
            folder,
            file.remote_name,
            opened(file.pk),
            size=file.size,
            sha256=file.sha256,
            before_rename=lambda name: _note_doubt(file, name),
            in_doubt=file.temporary_name,
        )
    except NotOurs:
        log.info("ach_file_not_ours", file=file.pk)
    except SftpError as error:
        _try_later(file, error, now)
    else:
        sent(file.pk, now=now)


def _note_doubt(file: OutFile, temporary_name: str) -> None:
    """From here on the file may be at the bank. Raises NotOurs: then it does not get there."""
    mine = OutFile.objects.filter(
        pk=file.pk, lease_version=file.lease_version, status=FileStatus.RELEASED
    )
    if rails.is_stopped(file.rail_id, RailPart.SENDING):
        raise NotOurs
    if not mine.update(temporary_name=temporary_name):
        raise NotOurs


def _try_later(file: OutFile, error: SftpError, now: datetime) -> None:
    _FAILED.labels(rail=file.rail_id, code=error.code).inc()
    note = log.warning if error.is_passing else log.error
    note("ach_file_not_sent", file=file.pk, rail=file.rail_id, code=error.code)
    wait = SOON * min(file.attempts, LATER // SOON) if error.is_passing else LATER
    leases.finish(file, next_attempt_at=now + wait)
