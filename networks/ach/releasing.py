"""Letting a built file go, by two people or by the rail's rule; holding it; taking it apart.

Whoever decides about a file locks its row, then its entries. A file that a worker has begun to send
cannot be held any more: it may be at the bank.
"""

from __future__ import annotations

from datetime import datetime

import structlog
from django.db import transaction
from django.db.models import Q

from common import database_clock
from common.database.job_doors import by
from common.database.jobs import WORKER
from common.engine import sql
from networks import return_codes
from networks.ach import telling
from networks.ach.errors import (
    BuilderMayNotRelease,
    EntryNotInFile,
    FileHasFaults,
    FileInAnotherStatus,
    FileIsGoing,
    FileNotThere,
    OtherTotal,
    ReleasedByOne,
)
from networks.ach.models import AchEntry, OutFile
from networks.ach.models.files import Release
from networks.ach.states import FILE_STATES, EntryStatus, FileStatus
from networks.base import EventKind

log = structlog.get_logger(__name__)

SYSTEM = "system"
_MISSED = "Its cut-off passed before it was released."

_APART = """
WITH apart AS (
    UPDATE ach_achentry AS entry
    SET status = 'waiting', batch_id = NULL, trace_number = '', frozen_at = NULL,
        effective_date = NULL, same_day = false, missed = entry.missed + %(missed)s
    FROM ach_achbatch AS batch
    WHERE batch.file_id = %(file)s AND entry.batch_id = batch.id AND entry.status = 'frozen'
    RETURNING 1
)
SELECT count(*) FROM apart
"""


@transaction.atomic
def release_first(file_id: str, *, by: str, now: datetime) -> OutFile:
    """The first of two people lets the file go. Raises StaffRefusal."""
    file = _locked(file_id, FileStatus.BUILT)
    _require_another(file, by)
    if file.first_released_at is not None:
        raise FileInAnotherStatus("Somebody has released it first already.")
    file.first_released_by, file.first_released_at = by, now
    file.save(update_fields=["first_released_by", "first_released_at"])
    return file


@transaction.atomic
def release(file_id: str, *, by: str, total: int, now: datetime) -> OutFile:
    """The second person lets it go, and types what debits and credits come to, in cents. Raises
    StaffRefusal."""
    file = _locked(file_id, FileStatus.BUILT)
    _require_another(file, by)
    if not file.first_released_by or file.first_released_by == by:
        raise ReleasedByOne("Another person has to release it first.")
    if total != file.debit_total + file.credit_total:
        raise OtherTotal("Debits and credits come to another sum.")
    _let_go(file, Release.PEOPLE, by, now)
    return file


def release_by_rule(file: OutFile, *, now: datetime) -> bool:
    """Whether the rail lets this file, which the caller has locked, go without people."""
    terms = file.version.parsed
    if file.debit_total + file.credit_total < terms.auto_release_below:
        _let_go(file, Release.BELOW, "", now)
    elif not terms.dual_release:
        _let_go(file, Release.RULE, "", now)
    return file.status == FileStatus.RELEASED


@transaction.atomic
def hold(file_id: str, *, by: str, why: str, now: datetime) -> OutFile:
    """Keep the file from leaving. Raises StaffRefusal."""
    file = _locked(file_id, FileStatus.BUILT, FileStatus.RELEASED)
    _require_here(file)
    FILE_STATES.advance(
        file,
        FileStatus.HELD,
        held_by=by,
        held_at=now,
        held_why=why,
        lease_version=file.lease_version + 1,
        **OutFile.NOT_DUE,
    )
    return file


@transaction.atomic
def unhold(file_id: str) -> OutFile:
    """Offer the file again, to be released by two. Raises StaffRefusal."""
    file = _locked(file_id, FileStatus.HELD)
    if file.faults or file.built_at is None:
        raise FileHasFaults("It must not leave as it is.")
    FILE_STATES.advance(
        file,
        FileStatus.BUILT,
        held_at=None,
        held_by="",
        held_why="",
        first_released_at=None,
        first_released_by="",
        released_at=None,
        released_by="",
        released_how="",
    )
    return file


@transaction.atomic
def build_again(file_id: str, *, by: str) -> OutFile:
    """Have a file with faults built once more, after their cause was removed, by a person, who
    does not release it then. Raises StaffRefusal."""
    file = _locked(file_id, FileStatus.HELD)
    if not file.faults:
        raise FileInAnotherStatus("It has no faults.")
    FILE_STATES.advance(
        file, FileStatus.BUILDING, built_by=by, faults=[], held_at=None, held_by="", held_why=""
    )
    return file


@transaction.atomic
def take_apart(file_id: str, *, by: str, why: str, now: datetime) -> OutFile:
    """Give up the file: its entries wait for the next one. Raises StaffRefusal."""
    file = _locked(
        file_id, FileStatus.BUILDING, FileStatus.BUILT, FileStatus.HELD, FileStatus.RELEASED
    )
    _require_here(file)
    part(file, by=by, why=why, missed=0, now=now)
    return file


@transaction.atomic
def take_out(instruction_id: str, *, by: str, why: str, now: datetime) -> OutFile:
    """Withdraw an entry from a file that was not sent. The file is taken apart, and the others go
    with the next one. Raises StaffRefusal."""
    mine = AchEntry.objects.filter(
        ~Q(status=EntryStatus.REQUEUED), instruction_id=instruction_id
    ).select_related("batch")
    found = mine.first()
    if found is None or found.batch is None:
        raise EntryNotInFile(f"{instruction_id} is in no file.")
    file = take_apart(found.batch.file_id, by=by, why=why, now=now)
    ended = telling.ended(
        {found.pk: return_codes.WITHDRAWN},
        status=EntryStatus.WITHDRAWN,
        kind=EventKind.REJECTED,
        sources=[EntryStatus.WAITING],
        now=now,
    )
    if not ended:
        raise EntryNotInFile(f"{instruction_id} is in no file.")
    return file


def part(file: OutFile, *, by: str, why: str, missed: int, now: datetime) -> None:
    """Take apart a file that the caller has locked and that has not left."""
    FILE_STATES.advance(
        file,
        FileStatus.WITHDRAWN,
        withdrawn_at=now,
        withdrawn_by=by,
        withdrawn_why=why,
        lease_version=file.lease_version + 1,
        **OutFile.NOT_DUE,
    )
    sql.rows(_APART, {"file": file.pk, "missed": missed})


@by(WORKER)
@database_clock.judged
def give_up_missed(rail: str, *, now: datetime) -> list[str]:
    """Take files apart whose cut-off has passed: their entries get new dates. Their ids.

    What a person holds stays as it is, and what a worker is sending.
    """
    late = OutFile.objects.filter(
        rail_id=rail,
        cutoff_at__lte=now,
        status__in=(FileStatus.BUILDING, FileStatus.BUILT, FileStatus.RELEASED),
    )
    given_up = []
    for file_id in late.order_by("cutoff_at").values_list("pk", flat=True):
        with transaction.atomic(durable=True):
            file = (
                OutFile.objects.select_for_update(skip_locked=True, no_key=True)
                .filter(pk=file_id, status__in=_OPEN)
                .first()
            )
            if file is None or _is_going(file):
                continue
            part(file, by=SYSTEM, why=_MISSED, missed=1, now=now)
        log.warning("ach_file_missed_cutoff", file=file_id, rail=rail)
        given_up.append(file_id)
    return given_up


_OPEN = (FileStatus.BUILDING, FileStatus.BUILT, FileStatus.RELEASED)


def _locked(file_id: str, *statuses: FileStatus) -> OutFile:
    file = (
        OutFile.objects.select_for_update(no_key=True, of=("self",))
        .select_related("version")
        .filter(pk=file_id)
        .first()
    )
    if file is None:
        raise FileNotThere(file_id)
    if file.status not in statuses:
        raise FileInAnotherStatus(f"It is {file.get_status_display().lower()}.")
    return file


def _require_another(file: OutFile, by: str) -> None:
    if file.built_by == by:
        raise BuilderMayNotRelease("You built it.")


def _require_here(file: OutFile) -> None:
    if _is_going(file):
        raise FileIsGoing("A worker has begun to send it.")


def _is_going(file: OutFile) -> bool:
    """Whether it may be at the bank, or get there now."""
    if file.status != FileStatus.RELEASED:
        return False
    is_leased = file.leased_until is not None and (
        file.leased_until > database_clock.database_now()
    )
    return bool(file.temporary_name) or is_leased


def _let_go(file: OutFile, how: Release, by: str, now: datetime) -> None:
    # A worker lets files go by a rule, and may name nobody.
    who = {"released_by": by} if by else {}
    FILE_STATES.advance(
        file,
        FileStatus.RELEASED,
        released_at=now,
        released_how=how,
        next_attempt_at=now,
        **who,
    )
