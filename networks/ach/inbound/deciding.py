"""What people decide about files and records from a bank. Staff are opaque text here; whoever calls
writes the audit log.

Deadlines are those of the Nacha Operating Rules, 2.11.4 and 2.12.5.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from django.db import transaction

from common.errors import StaffRefusal
from networks.ach import accounts, following, rails, replying
from networks.ach.inbound import changes, deadlines, rates, returns, taken_back
from networks.ach.inbound.deadlines import eastern_day
from networks.ach.models import AchEntry, AchReply, Correction, InFile, InRecord
from networks.ach.models.inbound import InFolder, RecordKind
from networks.ach.models.replies import ReplyKind
from networks.ach.nacha import codes
from networks.ach.nacha.faults import Scope
from networks.ach.states import (
    CORRECTION_STATES,
    IN_FILE_STATES,
    RECORD_STATES,
    REPLY_STATES,
    CorrectionStatus,
    InFileStatus,
    RecordStatus,
    ReplyStatus,
)

P = ParamSpec("P")
T = TypeVar("T")

LATE, DUPLICATE, FIELD_ERROR, NOT_AGREED = "R68", "R67", "R69", "R70"
_BY_AGREEMENT = frozenset(("R06", "R31"))
_INFORMATION_LENGTH = 21
_SET_ASIDE = (Scope.FILE, Scope.BATCH)
_RETURNS = frozenset((RecordKind.RETURN, RecordKind.CORRECTED_RETURN))


class NotPossible(StaffRefusal):
    code = "ach_not_possible"
    title = "Not possible"
    advice = "Read it again: somebody may have decided about it, or its time is over."


def _in_one_transaction(act: Callable[P, T]) -> Callable[P, T]:
    @wraps(act)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        with transaction.atomic():
            return act(*args, **kwargs)

    return run


# --- Files


@_in_one_transaction
def read_again(*, file_id: str, staff: str, why: str, excuse: bool, now: datetime) -> InFile:
    """Read a file that lies in review once more. With `excuse` the faults for which it, or some of
    its batches, were set aside are let pass; those of a bank statement never are. Records that were
    applied stay so. Raises NotPossible."""
    file = _file(file_id)
    if excuse and file.folder == InFolder.STATEMENTS:
        raise NotPossible("A fault of a bank statement cannot be let pass.")
    faults = [
        fault | ({"excused": True} if excuse and fault["scope"] in _SET_ASIDE else {})
        for fault in file.faults
    ]
    IN_FILE_STATES.advance(
        file,
        InFileStatus.STORED,
        faults=faults,
        next_attempt_at=now,
        resolved_by=staff,
        resolution=_said(why),
    )
    return file


@_in_one_transaction
def resolve_file(*, file_id: str, staff: str, why: str, now: datetime) -> InFile:
    """Leave a file as it is. Its records are dealt with one by one. Raises NotPossible, also for a
    bank statement, which two people dismiss."""
    file = _file(file_id)
    if file.folder == InFolder.STATEMENTS:
        raise NotPossible("It takes two people to dismiss a bank statement.")
    return _resolved(file, staff, why, now)


@_in_one_transaction
def dismiss_statement(*, file_id: str, staff: str, why: str, now: datetime) -> InFile:
    """Never take a file of bank statements. Raises NotPossible."""
    return _resolved(waiting_statement(file_id), staff, why, now)


def waiting_statement(file_id: str) -> InFile:
    """A file of bank statements that was set aside, row-locked. Raises NotPossible."""
    file = _file(file_id)
    if file.folder != InFolder.STATEMENTS:
        raise NotPossible("The file has no bank statements.")
    return file


def uploaded_statement(file_id: str) -> InFile:
    """What a person uploaded and another one has to decide about, row-locked. Raises
    NotPossible."""
    return _file(file_id, InFileStatus.WAITING)


@_in_one_transaction
def release_upload(*, file_id: str, now: datetime) -> InFile:
    """Have an uploaded statement taken. Raises NotPossible."""
    file = uploaded_statement(file_id)
    IN_FILE_STATES.advance(file, InFileStatus.STORED, next_attempt_at=now)
    return file


@_in_one_transaction
def reject_upload(*, file_id: str, staff: str, why: str, now: datetime) -> InFile:
    """Never take this upload. Raises NotPossible."""
    return _resolved(uploaded_statement(file_id), staff, why, now)


def _resolved(file: InFile, staff: str, why: str, now: datetime) -> InFile:
    IN_FILE_STATES.advance(
        file, InFileStatus.RESOLVED, resolved_by=staff, resolved_at=now, resolution=_said(why)
    )
    return file


def _file(file_id: str, status: InFileStatus = InFileStatus.REVIEW) -> InFile:
    file = InFile.objects.select_for_update(no_key=True).filter(pk=file_id).first()
    if file is None or file.status != status:
        raise NotPossible("The file does not wait for a decision.")
    return file


# --- Records


@_in_one_transaction
def resolve(*, record_id: int, staff: str, why: str, now: datetime) -> InRecord:
    """Leave a record without effect, and the change that it asks for. Raises NotPossible."""
    record = _record(record_id)
    for correction in Correction.objects.filter(record=record, status=CorrectionStatus.OPEN):
        CORRECTION_STATES.advance(
            correction, CorrectionStatus.INFORMATIONAL, **_decision(staff, why, now)
        )
    _resolve(record, staff, why, now)
    return record


@_in_one_transaction
def return_entry(*, record_id: int, entry_id: int, staff: str, why: str, now: datetime) -> InRecord:
    """Send an entry back by a return that could not be matched, or that has another amount: what
    comes back in our books is the entry's own amount.

    The return has to name the entry by its trace number, or by its account and amount: one person
    must not be able to send any entry back by any return. Raises NotPossible.
    """
    record = _record(record_id)
    if record.kind not in _RETURNS:
        raise NotPossible("The record is no return.")
    entry = returns.lock([entry_id]).get(entry_id)
    if entry is None or entry.rail_id != record.rail_id:
        raise NotPossible("There is no such entry.")
    if not _names(record, entry):
        raise NotPossible("The return has neither its trace number nor its account and amount.")
    if entry.status not in returns.ON_ITS_WAY:
        raise NotPossible(f"The entry is {entry.status} and cannot come back.")
    if taken_back.stop([entry.pk], now=now):
        raise NotPossible("A reversal of the entry is on its way.")
    is_return = record.kind == RecordKind.RETURN
    returns.send_back([(record, entry)], now=now, code="" if is_return else record.reason_code)
    rates.judge([entry.originator_id], terms=rails.current(record.rail_id).parsed, now=now)
    RECORD_STATES.advance(record, RecordStatus.APPLIED, entry=entry, **_decision(staff, why, now))
    return record


def _names(record: InRecord, entry: AchEntry) -> bool:
    is_same_account = accounts.is_of(entry, record.account_fingerprint)
    is_same_money = is_same_account and record.amount == entry.amount
    return record.original_trace == entry.trace_number or is_same_money


@_in_one_transaction
def accept_late(*, record_id: int, staff: str, why: str, now: datetime) -> InRecord:
    """Leave a late return as it is: our bank is not asked to dishonor it. Raises NotPossible."""
    record = _locked(record_id)
    if not record.may_dishonor:
        raise NotPossible("The return is not late, or somebody decided about it.")
    _set(record, may_dishonor=False, **_decision(staff, why, now))
    return record


@_in_one_transaction
def dishonor(
    *, record_id: int, code: str, information: str = "", staff: str, why: str, now: datetime
) -> AchReply:
    """Have our bank refuse a return. `information` of R69 names the wrong fields, as 01*03.

    The reply goes out with the next file of replies. Raises NotPossible.
    """
    record = _locked(record_id)
    is_open = record.status == RecordStatus.REVIEW or record.status == RecordStatus.APPLIED
    if record.kind not in _RETURNS or not is_open:
        raise NotPossible("Only a return that was applied, or waits for a decision, can be.")
    _require_reason(record, code, information)
    if record.status == RecordStatus.APPLIED:
        _require_not_retried(record)
    due = deadlines.dishonor_due(record.settlement_day or eastern_day(record.received_at))
    reply = _reply(record, ReplyKind.DISHONOR, code, information, due, staff, why, now)
    if record.status == RecordStatus.REVIEW:
        _resolve(record, staff, why, now)
    else:
        _set(record, may_dishonor=False, **_decision(staff, why, now))
    return reply


def _require_not_retried(record: InRecord) -> None:
    """The money of the debit would come twice."""
    entry = returns.lock([record.entry_id]).get(record.entry_id) if record.entry_id else None
    if entry is not None and following.was_retried(entry):
        raise NotPossible("The debit was tried again: the return stands.")


def _require_reason(record: InRecord, code: str, information: str) -> None:
    if code not in codes.DISHONORED_CODES:
        raise NotPossible(f"{code} is no code for a dishonored return.")
    if code == LATE and not _is_late(record):
        raise NotPossible("The return came in time.")
    if code == NOT_AGREED and record.code not in _BY_AGREEMENT:
        raise NotPossible("Only a return with R06 or R31 needs an agreement.")
    if code == DUPLICATE and not _is_second(record):
        raise NotPossible("The entry did not come back before.")
    fields = information.split("*")
    if code == FIELD_ERROR and not all(
        len(each) == 2 and each.isdecimal() and 1 <= int(each) <= 7 for each in fields
    ):
        raise NotPossible("Name the wrong fields by their numbers, 01 to 07, as 01*03.")
    is_plain = information.isascii() and information.isprintable()
    if len(information) > _INFORMATION_LENGTH or not is_plain:
        raise NotPossible(f"There is room for {_INFORMATION_LENGTH} plain characters.")


def _is_late(record: InRecord) -> bool:
    entry = record.entry
    if entry is None or record.kind != RecordKind.RETURN:
        return False
    came = record.settlement_day or eastern_day(record.received_at)
    return deadlines.is_late(record.code, settled=entry.settlement_date, returned=came)


def _is_second(record: InRecord) -> bool:
    earlier = InRecord.objects.filter(
        entry=record.entry_id, kind__in=_RETURNS, status=RecordStatus.APPLIED
    )
    return record.entry_id is not None and earlier.exclude(pk=record.pk).exists()


# --- Changes


@_in_one_transaction
def apply_change(*, correction_id: str, staff: str, why: str, now: datetime) -> Correction:
    """Have a change told to whoever keeps the account. Raises NotPossible."""
    correction = _correction(correction_id)
    if not correction.corrected_token:
        raise NotPossible("The corrected data cannot be: refuse the change.")
    CORRECTION_STATES.advance(correction, CorrectionStatus.APPLIED, **_decision(staff, why, now))
    changes.tell(correction, now=now)
    record = _record(correction.record_id)
    RECORD_STATES.advance(record, RecordStatus.APPLIED, **_decision(staff, why, now))
    return correction


@_in_one_transaction
def refuse_change(*, record_id: int, code: str, staff: str, why: str, now: datetime) -> AchReply:
    """Have our bank refuse a notification of change, with C61 to C69. Raises NotPossible."""
    record = _record(record_id)
    if record.kind != RecordKind.NOC:
        raise NotPossible("The record is no notification of change.")
    if code not in codes.REFUSAL_CODES:
        raise NotPossible(f"{code} is no code for a refused change.")
    due = deadlines.refusal_due(record.settlement_day or eastern_day(record.received_at))
    reply = _reply(record, ReplyKind.REFUSAL, code, "", due, staff, why, now)
    for correction in Correction.objects.filter(record=record, status=CorrectionStatus.OPEN):
        CORRECTION_STATES.advance(
            correction,
            CorrectionStatus.REFUSED,
            refusal_code=code,
            **_decision(staff, why, now),
        )
    _resolve(record, staff, why, now)
    return reply


def _correction(correction_id: str) -> Correction:
    rows = Correction.objects.select_for_update(no_key=True, of=("self",)).select_related("entry")
    correction = rows.filter(pk=correction_id).first()
    if correction is None or correction.status != CorrectionStatus.OPEN:
        raise NotPossible("The change does not wait for a decision.")
    return correction


# --- Replies that the bank does not have, originators


@_in_one_transaction
def withdraw_reply(*, reply_id: str, now: datetime) -> AchReply:
    """Take back an answer that is in no file, or in one that was taken apart or rejected: what it
    is about waits for a decision again. Raises NotPossible."""
    rows = AchReply.objects.select_for_update(no_key=True, of=("self",))
    reply = rows.select_related("batch__file").filter(pk=reply_id).first()
    if reply is None or not reply.may_be_withdrawn:
        raise NotPossible("The reply is in a file already.")
    if reply.status == ReplyStatus.FROZEN:
        replying.take_back(reply)
    REPLY_STATES.advance(reply, ReplyStatus.WITHDRAWN, ended_at=now)
    replying.give_back(reply)
    return reply


def release_debits(*, originator_id: str, now: datetime) -> None:
    """Let the debits of an originator go on that its returns had stopped. Raises NotPossible."""
    if not rates.release(originator_id=originator_id, now=now):
        raise NotPossible("The debits of this originator are not stopped.")


# --- What they share


def _record(record_id: int) -> InRecord:
    """A record that waits for a decision, locked."""
    record = _locked(record_id)
    if record.status != RecordStatus.REVIEW:
        raise NotPossible("The record does not wait for a decision.")
    return record


def _locked(record_id: int) -> InRecord:
    record = InRecord.objects.select_for_update(no_key=True).filter(pk=record_id).first()
    if record is None:
        raise NotPossible("There is no such record.")
    return record


def _resolve(record: InRecord, staff: str, why: str, now: datetime) -> None:
    RECORD_STATES.advance(record, RecordStatus.RESOLVED, **_decision(staff, why, now))


def _reply(
    record: InRecord,
    kind: ReplyKind,
    code: str,
    information: str,
    due: date,
    staff: str,
    why: str,
    now: datetime,
) -> AchReply:
    if (leaves := replying.leaves_on(record.rail_id, now)) > due:
        raise NotPossible(f"It had to be with the bank by {due}. The next file leaves on {leaves}.")
    if any(reply.is_live for reply in AchReply.objects.filter(record=record)):
        raise NotPossible("There is a reply already.")
    if not replying.can_be_answered(record):
        raise NotPossible("It cannot be read well enough for an answer: call the bank, resolve it.")
    return AchReply.objects.create(
        rail_id=record.rail_id,
        record=record,
        kind=kind,
        code=code,
        information=information,
        due_on=due,
        decided_by=staff,
        decided_at=now,
        decided_why=_said(why),
    )


def _decision(staff: str, why: str, now: datetime) -> dict[str, Any]:
    return {"decided_by": staff, "decided_at": now, "decided_why": _said(why)}


def _set(record: InRecord, **columns: Any) -> None:
    InRecord.objects.filter(pk=record.pk).update(**columns)
    for name, value in columns.items():
        setattr(record, name, value)


def _said(why: str) -> str:
    if not why.strip():
        raise NotPossible("Say why.")
    return why.strip()[:300]
