"""What people decide about records and files from banks, each with its line in the audit log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.db import transaction

from common.errors import NotFound
from desk import doers
from desk.doers import Doer
from desk.exceptions.forms import DishonorForm, MatchForm, ReadAgainForm, RefuseForm
from desk.forms import ReasonForm
from desk.proposals import asking
from networks.ach import proposing
from networks.ach.inbound import deciding
from networks.ach.models import AchReply, Correction, InFile, InRecord, Originator
from networks.ach.models.inbound import InFolder, RecordKind
from networks.ach.models.proposals import ProposalKind
from networks.ach.states import CorrectionStatus, InFileStatus, RecordStatus

_RETURNS = (RecordKind.RETURN, RecordKind.CORRECTED_RETURN)
Values = Mapping[str, Any]


@dataclass(frozen=True)
class Action:
    """One button. `do` gets the row, what was typed, who it is and when, and may raise
    StaffRefusal; `possible` says whether the row offers it, `is_for_two` that
    another person has to approve it."""

    label: str
    explained: str
    form: type[forms.Form]
    do: Callable[[Any, Values, str, datetime], object]
    possible: Callable[[Any], bool]
    tone: str = "primary"
    is_for_two: bool = False


def _match(row: InRecord, values: Values, staff: str, now: datetime) -> object:
    entry = values["entry"]
    return deciding.return_entry(
        record_id=row.pk, entry_id=entry.pk, staff=staff, why=values["reason"], now=now
    )


def _dishonor(row: InRecord, values: Values, staff: str, now: datetime) -> object:
    return deciding.dishonor(
        record_id=row.pk,
        code=values["code"],
        information=values["information"],
        staff=staff,
        why=values["reason"],
        now=now,
    )


def _let_stand(row: InRecord, values: Values, staff: str, now: datetime) -> object:
    return deciding.accept_late(record_id=row.pk, staff=staff, why=values["reason"], now=now)


def _apply(row: InRecord, values: Values, staff: str, now: datetime) -> object:
    correction = open_correction(row)
    if correction is None:
        raise deciding.NotPossible("The change does not wait for a decision.")
    return deciding.apply_change(
        correction_id=correction.pk, staff=staff, why=values["reason"], now=now
    )


def _refuse(row: InRecord, values: Values, staff: str, now: datetime) -> object:
    return deciding.refuse_change(
        record_id=row.pk, code=values["code"], staff=staff, why=values["reason"], now=now
    )


def _resolve(row: InRecord, values: Values, staff: str, now: datetime) -> object:
    return deciding.resolve(record_id=row.pk, staff=staff, why=values["reason"], now=now)


def _read_again(row: InFile, values: Values, staff: str, now: datetime) -> object:
    return deciding.read_again(
        file_id=row.pk,
        staff=staff,
        why=values["reason"],
        excuse=values.get("excuse", False),
        now=now,
    )


def _resolve_file(row: InFile, values: Values, staff: str, now: datetime) -> object:
    return deciding.resolve_file(file_id=row.pk, staff=staff, why=values["reason"], now=now)


def _dismiss(row: InFile, values: Values, staff: str, now: datetime) -> object:
    return proposing.propose(
        ProposalKind.DISMISS_STATEMENT,
        rail=row.rail_id,
        subject=row.pk,
        reason=values["reason"],
        by=staff,
        now=now,
    )


def _is_statement(row: InFile) -> bool:
    return row.folder == InFolder.STATEMENTS


def open_correction(record: InRecord) -> Correction | None:
    """The change that a record asks for, if somebody has to decide about it."""
    return Correction.objects.filter(record=record, status=CorrectionStatus.OPEN).first()


def _is_open(row: InRecord) -> bool:
    return row.status == RecordStatus.REVIEW


def _is_open_return(row: InRecord) -> bool:
    return _is_open(row) and row.kind in _RETURNS


def _can_be_dishonored(row: InRecord) -> bool:
    """A return that was applied in time may still be wrong (R61, R69) or not agreed to (R70)."""
    if row.kind not in _RETURNS or row.status == RecordStatus.RESOLVED:
        return False
    return not any(reply.is_live for reply in AchReply.objects.filter(record=row))


def _can_be_applied(row: InRecord) -> bool:
    correction = open_correction(row) if _is_open(row) and row.kind == RecordKind.NOC else None
    return bool(correction and correction.corrected_token)


RECORD_ACTIONS = {
    "match": Action(
        "Match to an entry",
        "The entry comes back with its own amount, and its tenant is told.",
        MatchForm,
        _match,
        _is_open_return,
    ),
    "dishonor": Action(
        "Dishonor",
        "Our bank refuses the return by the next file of replies. Nothing changes in the books"
        " until their bank answers.",
        DishonorForm,
        _dishonor,
        _can_be_dishonored,
    ),
    "let-stand": Action(
        "Let it stand",
        "The return stays as it is, although it came late.",
        ReasonForm,
        _let_stand,
        lambda row: row.may_dishonor and not _is_open(row),
    ),
    "apply": Action(
        "Apply the change",
        "Later entries use the corrected details, and the tenant is told.",
        ReasonForm,
        _apply,
        _can_be_applied,
    ),
    "refuse": Action(
        "Refuse the change",
        "Our bank refuses it by the next file of replies. Entries go on with the old details.",
        RefuseForm,
        _refuse,
        lambda row: _is_open(row) and row.kind == RecordKind.NOC,
    ),
    "resolve": Action(
        "Resolve",
        "It is closed and moves nothing. Say what you found out.",
        ReasonForm,
        _resolve,
        _is_open,
    ),
}
FILE_ACTIONS = {
    "read-again": Action(
        "Read again",
        "A worker reads the file once more. What was applied stays applied.",
        ReadAgainForm,
        _read_again,
        lambda row: row.status == InFileStatus.REVIEW and not _is_statement(row),
    ),
    "resolve": Action(
        "Resolve",
        "The file stays as it is. Its records are decided one by one.",
        ReasonForm,
        _resolve_file,
        lambda row: row.status == InFileStatus.REVIEW and not _is_statement(row),
    ),
    "take-again": Action(
        "Try again",
        "A worker reads the statement once more, and takes it if it fits now.",
        ReasonForm,
        _read_again,
        lambda row: row.status == InFileStatus.REVIEW and _is_statement(row),
    ),
    "propose-dismissal": Action(
        "Dismiss",
        "Another person approves it, and the statement is never taken.",
        ReasonForm,
        _dismiss,
        lambda row: row.status == InFileStatus.REVIEW and _is_statement(row),
        tone="bad",
        is_for_two=True,
    ),
}


@transaction.atomic
def decide(
    kind: str,
    what: str,
    *,
    row: InRecord | InFile,
    values: Values,
    doer: Doer,
    now: datetime,
) -> None:
    """Do one of the actions of a `record` or a `file`. Raises StaffRefusal."""
    actions = RECORD_ACTIONS if kind == "record" else FILE_ACTIONS
    actions[what].do(row, values, doer.name, now)
    said = {name: str(values[name]) for name in ("code", "information") if values.get(name)}
    if "entry" in values:
        said["instructionId"] = values["entry"].instruction_id
    if values.get("excuse"):
        said["excused"] = "yes"
    action = f"ach_{kind}.{what.replace('-', '_')}"
    details: dict[str, Any] = {"rail": row.rail_id, **said}
    doers.record(doer, action, str(row.pk), now=now, note=values["reason"], **details)


@transaction.atomic
def withdraw_reply(*, reply: AchReply, reason: str, doer: Doer, now: datetime) -> None:
    """Take back an answer that is in no file yet. Raises StaffRefusal."""
    deciding.withdraw_reply(reply_id=reply.pk, now=now)
    details = {"rail": reply.rail_id, "code": reply.code, "recordId": str(reply.record_id)}
    doers.record(doer, "ach_reply.withdrawn", reply.pk, now=now, note=reason, **details)


@transaction.atomic
def release_debits(*, originator: Originator, reason: str, doer: Doer, now: datetime) -> None:
    """Let stopped debits go on; at the desk another person approves it. Raises StaffRefusal."""
    if not doer.is_alone:
        asking.propose(
            ProposalKind.RELEASE_DEBITS,
            rail=originator.rail_id,
            subject=originator.pk,
            tenant_id=originator.tenant_id,
            reason=reason,
            doer=doer,
            now=now,
        )
        return
    why = originator.debits_stopped_why
    deciding.release_debits(originator_id=originator.pk, now=now)
    details = {"rail": originator.rail_id, "company_name": originator.company_name, "why": why}
    doers.record(doer, "originator.debits_went_on", originator.pk, now=now, note=reason, **details)


def found_record(record_id: int) -> InRecord:
    """Raises NotFound."""
    rows = InRecord.objects.select_related("file", "entry", "answers")
    record = rows.filter(pk=record_id).first() if record_id < 2**63 else None
    if record is None:
        raise NotFound("There is no such record.")
    return record


def found_reply(reply_id: str) -> AchReply:
    """Raises NotFound."""
    reply = AchReply.objects.filter(pk=reply_id).first() if "\0" not in reply_id else None
    if reply is None:
        raise NotFound("There is no such reply.")
    return reply


def found_file(file_id: str) -> InFile:
    """Raises NotFound."""
    file = InFile.objects.filter(pk=file_id).first() if "\0" not in file_id else None
    if file is None:
        raise NotFound("There is no such file.")
    return file
