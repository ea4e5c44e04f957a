"""What people do to a file, each step with its line in the audit log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from django.db import transaction

from common.errors import NotFound
from desk import doers
from desk.doers import Doer
from desk.proposals import asking
from networks.ach import redacting, releasing, sealing, sending
from networks.ach.models import OutFile
from networks.ach.models.proposals import ProposalKind
from tenants.services import second_person

RELEASES = "ach.release_outfile"


def found_file(file_id: str) -> OutFile:
    """Raises NotFound."""
    rows = OutFile.objects.select_related("version")
    file = rows.filter(pk=file_id).first() if "\0" not in file_id else None
    if file is None:
        raise NotFound("There is no such file.")
    return file


@transaction.atomic
def release_first(*, file: OutFile, doer: Doer, now: datetime) -> None:
    """Raises StaffRefusal."""
    releasing.release_first(file.pk, by=doer.name, now=now)
    second_person.require_role(actor=doer.actor, power=RELEASES)
    record("released_first", file, doer, now)


@transaction.atomic
def release(*, file: OutFile, total: int, doer: Doer, now: datetime) -> None:
    """`total` in cents, as the second person typed it. Raises StaffRefusal."""
    released = releasing.release(file.pk, by=doer.name, total=total, now=now)
    second_person.require(
        actor=doer.actor,
        power=RELEASES,
        proposed_by=released.first_released_by,
        proposed_at=released.first_released_at or now,
        proposes=RELEASES,
    )
    record("released", file, doer, now)


@transaction.atomic
def hold(*, file: OutFile, reason: str, doer: Doer, now: datetime) -> None:
    """Raises StaffRefusal."""
    releasing.hold(file.pk, by=doer.name, why=reason, now=now)
    record("held", file, doer, now, reason)


@transaction.atomic
def unhold(*, file: OutFile, reason: str, doer: Doer, now: datetime) -> None:
    """Raises StaffRefusal."""
    releasing.unhold(file.pk)
    record("unheld", file, doer, now, reason)


@transaction.atomic
def build_again(*, file: OutFile, reason: str, doer: Doer, now: datetime) -> None:
    """Raises StaffRefusal."""
    releasing.build_again(file.pk, by=doer.name)
    record("built_again", file, doer, now, reason)


@transaction.atomic
def take_apart(*, file: OutFile, reason: str, doer: Doer, now: datetime) -> None:
    """Raises StaffRefusal."""
    releasing.take_apart(file.pk, by=doer.name, why=reason, now=now)
    record("taken_apart", file, doer, now, reason)


@transaction.atomic
def take_out(*, instruction_id: str, reason: str, doer: Doer, now: datetime) -> OutFile:
    """Raises StaffRefusal."""
    file = releasing.take_out(instruction_id, by=doer.name, why=reason, now=now)
    doers.record(doer, "ach_entry.taken_out", instruction_id, now=now, note=reason, fileId=file.pk)
    return file


def download(*, file: OutFile, doer: Doer, now: datetime) -> Iterator[bytes]:
    """The bytes of a file with account numbers masked, after it is written down who took them."""
    with transaction.atomic():
        record("downloaded", file, doer, now)
    return redacting.redacted(sealing.opened(file.pk))


@transaction.atomic
def try_again(*, file: OutFile, reason: str, doer: Doer, now: datetime) -> None:
    """Raises StaffRefusal."""
    code = file.stuck_code
    sending.try_again(file.pk, now=now)
    record("tried_again", file, doer, now, reason, code=code)


@transaction.atomic
def at_bank(*, file: OutFile, reason: str, doer: Doer, now: datetime) -> None:
    """At the desk another person approves it. Raises StaffRefusal."""
    if not doer.is_alone:
        _propose(ProposalKind.AT_BANK, file, reason, doer, now)
        return
    sending.at_bank(file.pk, now=now)
    record("at_bank", file, doer, now, reason)


@transaction.atomic
def not_at_bank(*, file: OutFile, reason: str, doer: Doer, now: datetime) -> None:
    """At the desk another person approves it. Raises StaffRefusal."""
    if not doer.is_alone:
        _propose(ProposalKind.NOT_AT_BANK, file, reason, doer, now)
        return
    sending.not_at_bank(file.pk, now=now)
    record("not_at_bank", file, doer, now, reason)


def _propose(kind: ProposalKind, file: OutFile, reason: str, doer: Doer, now: datetime) -> None:
    asking.propose(kind, rail=file.rail_id, subject=file.pk, reason=reason, doer=doer, now=now)


# What one button does to a file, for a reason.
STEPS: dict[str, Callable[..., None]] = {
    "hold": hold,
    "unhold": unhold,
    "build-again": build_again,
    "take-apart": take_apart,
    "try-again": try_again,
    "at-bank": at_bank,
    "not-at-bank": not_at_bank,
}


def record(
    what: str, file: OutFile, doer: Doer, now: datetime, note: str = "", **details: str
) -> None:
    """Write to the audit log what was done to a file, in the caller's transaction."""
    doers.record(
        doer,
        f"ach_file.{what}",
        file.pk,
        now=now,
        note=note,
        rail=file.rail_id,
        name=file.remote_name,
        debit=file.debit_total,
        credit=file.credit_total,
        entries=file.entry_count,
        **details,
    )
