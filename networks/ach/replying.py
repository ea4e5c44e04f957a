"""Files by which our bank answers others: dishonored returns and refused notifications of change.

People decided about each (`networks.ach.inbound.deciding`). Each is a batch of its own, because it
repeats the header of what it answers; the file is built, released and sent like any other.
Source: Nacha Operating Rules, Appendix Four and Five.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime

import structlog
from django.db import transaction
from django.db.models import F

from common import crypto
from common.database.job_doors import by
from common.database.jobs import WORKER
from networks import return_codes
from networks.ach import file_rows, freezing, rails, schedule
from networks.ach.inbound import matching
from networks.ach.models import (
    AchBatch,
    AchEvent,
    AchReply,
    Correction,
    InRecord,
    Originator,
    OutFile,
    RailVersion,
)
from networks.ach.models.events import AchEventKind
from networks.ach.models.replies import TAKEN_APART, ReplyKind
from networks.ach.nacha import codes, layout
from networks.ach.nacha.entries import check_digit
from networks.ach.nacha.items import parse
from networks.ach.nacha.records import (
    Addenda98Refused,
    Addenda99Dishonored,
    Entry,
    EntryDetail,
)
from networks.ach.nacha.sums import HASH_MODULUS
from networks.ach.schedule import Window
from networks.ach.states import (
    CORRECTION_STATES,
    RECORD_STATES,
    REPLY_STATES,
    CorrectionStatus,
    FileKind,
    RecordStatus,
    ReplyStatus,
)

log = structlog.get_logger(__name__)

REPLIES_TOGETHER = 500
_ENTRY_AND_ADDENDA = 2
_DESCRIPTION = "RETURN"  # where we do not know what the entry said
_CAME_TO_NOTHING = "our answer was rejected, late or taken back: decide about the return again"


@by(WORKER)
def freeze_due(rail: str, *, now: datetime) -> list[str]:
    """Put the replies that the open cut-off takes into files, which have to be built. Their ids.

    Replies of a file that was taken apart, or that the bank rejected, go again.
    """
    version = rails.current(rail)
    window = schedule.open_window(version.parsed, now)
    if window is None or not freezing.may_build(rail, version):
        return []
    files: list[str] = []
    while file_id := _freeze_one(version, window, now):
        files.append(file_id)
    return files


def leaves_on(rail: str, now: datetime) -> date:
    """The banking day of the file that a reply goes with which is decided now."""
    terms = rails.current(rail).parsed
    window = schedule.open_window(terms, now) or schedule.next_window(terms, now)
    return window.day


def entries(batch: AchBatch) -> Iterator[Entry]:
    """What a batch of a file of replies holds. Raises common.crypto.Undecryptable."""
    replies = AchReply.objects.filter(batch=batch).select_related("record")
    for reply in replies.order_by("trace_number"):
        yield _entry(reply)


def give_back(reply: AchReply) -> None:
    """Let people decide anew about what a reply was an answer to: the bank never gets it."""
    record = InRecord.objects.select_for_update(no_key=True).get(pk=reply.record_id)
    undecided = {"decided_by": "", "decided_at": None, "decided_why": ""}
    refused = Correction.objects.filter(record=record, status=CorrectionStatus.REFUSED)
    for correction in refused.select_for_update(no_key=True):
        CORRECTION_STATES.advance(correction, CorrectionStatus.OPEN, refusal_code="", **undecided)
    if record.status == RecordStatus.RESOLVED:
        RECORD_STATES.advance(record, RecordStatus.REVIEW, **undecided)
    elif record.status == RecordStatus.APPLIED:
        record.may_dishonor, record.due_on, record.note = True, reply.due_on, _CAME_TO_NOTHING
        record.save(update_fields=["may_dishonor", "due_on", "note"])


def take_back(reply: AchReply) -> None:
    """Let a locked reply wait again, whose file was taken apart or rejected."""
    REPLY_STATES.advance(reply, ReplyStatus.WAITING, batch=None, trace_number="")


@transaction.atomic
def acknowledged(
    file: OutFile, *, rejected: Mapping[str, str], bad_batches: Mapping[int, str], now: datetime
) -> None:
    """Write down what the bank said to the replies of a file, by trace and by batch number."""
    rows = AchReply.objects.select_for_update(no_key=True, of=("self",)).filter(
        batch__file=file, status=ReplyStatus.FROZEN
    )
    for reply in rows.select_related("batch", "record__entry").order_by("pk"):
        number = reply.batch.batch_number if reply.batch else 0
        code = rejected.get(reply.trace_number) or bad_batches.get(number)
        if code is None:
            REPLY_STATES.advance(reply, ReplyStatus.ACCEPTED, ended_at=now)
            _tell(reply, now)
            continue
        REPLY_STATES.advance(reply, ReplyStatus.REJECTED, bank_code=code[:40], ended_at=now)
        give_back(reply)
        log.error("ach_reply_rejected", reply_id=reply.pk, code=code)


def _freeze_one(version: RailVersion, window: Window, now: datetime) -> str:
    """The id of a file with replies that wait; empty if there are none."""
    with transaction.atomic(durable=True):
        counter = file_rows.lock_counter(version.parsed.odfi)
        _take_all_back(version.rail_id)
        _give_up_late(version.rail_id, window, now)
        waiting = AchReply.objects.filter(rail_id=version.rail_id, status=ReplyStatus.WAITING)
        replies = list(
            waiting.select_for_update(no_key=True, of=("self",))
            .select_related("record__entry")
            .order_by("due_on", "pk")[:REPLIES_TOGETHER]
        )
        if not replies:
            return ""
        first = file_rows.first_trace(counter, len(replies))
        file = file_rows.new(version, window, now)
        file.kind = FileKind.REPLY
        file_rows.insert(file)
        for place, reply in enumerate(replies):
            trace = f"{version.parsed.odfi}{first + place:07d}"
            batch = _batch(file, version, window, reply, number=place + 1, trace=trace)
            REPLY_STATES.advance(reply, ReplyStatus.FROZEN, batch=batch, trace_number=trace)
        counter.next = first + len(replies)
        counter.save(update_fields=["next"])
        file_rows.sum_up(file, missed=0)
    return file.pk


def _take_all_back(rail: str) -> None:
    rows = AchReply.objects.select_for_update(no_key=True, of=("self",))
    apart = rows.filter(
        rail_id=rail, status=ReplyStatus.FROZEN, batch__file__status__in=TAKEN_APART
    )
    for reply in apart.order_by("pk"):
        take_back(reply)


def _give_up_late(rail: str, window: Window, now: datetime) -> None:
    """What missed its last day, while nothing was built or its file was held, is not sent any more:
    the other bank would contest it."""
    late = AchReply.objects.filter(rail_id=rail, status=ReplyStatus.WAITING, due_on__lt=window.day)
    for reply in late.select_for_update(no_key=True).order_by("pk"):
        REPLY_STATES.advance(reply, ReplyStatus.WITHDRAWN, ended_at=now)
        give_back(reply)
        log.error("ach_reply_too_late", reply_id=reply.pk)


def _batch(
    file: OutFile,
    version: RailVersion,
    window: Window,
    reply: AchReply,
    *,
    number: int,
    trace: str,
) -> AchBatch:
    """The header of what is answered, from the entry of ours that it is about."""
    terms, entry = version.parsed, reply.record.entry
    said = _turned(reply)
    is_debit = said.transaction_code in codes.DEBITS
    originator = entry.originator_id if entry else _of_all(version.rail_id)
    sec = entry.sec if entry else "CCD"
    return AchBatch.objects.create(
        file=file,
        batch_number=number,
        originator_id=originator,
        sec=codes.COR if reply.kind == ReplyKind.REFUSAL else sec,
        service_class=codes.DEBITS_ONLY if is_debit else codes.CREDITS_ONLY,
        company_name=entry.company_name if entry else terms.company_name,
        company_id=entry.company_id if entry else terms.company_id,
        description=entry.description if entry else _DESCRIPTION,
        effective_date=schedule.effective_date(window, same_day=False),
        entry_count=_ENTRY_AND_ADDENDA,
        entry_hash=int(reply.record.rdfi_routing) % HASH_MODULUS,
        debit_total=said.amount if is_debit else 0,
        credit_total=0 if is_debit else said.amount,
        first_trace=trace,
    )


def _of_all(rail: str) -> str:
    """The common originator or, where it has ended, another one: a batch has to have one."""
    rows = Originator.objects.filter(rail_id=rail)
    found = rows.order_by(F("ended_at").desc(nulls_first=True), "tenant_id", "pk")
    return str(found.values_list("pk", flat=True)[0])


def can_be_answered(record: InRecord) -> bool:
    """Whether what came in says enough for an answer: one that no file can hold would keep all the
    others back."""
    try:
        said = _said(record)
    except crypto.Undecryptable:
        return False
    is_known = said is not None and said.transaction_code in codes.DEBITS | codes.CREDITS
    return is_known and bool(record.rdfi_trace and record.rdfi_routing and record.original_trace)


def _said(record: InRecord) -> EntryDetail | None:
    """The entry of what came in; None where it cannot be read."""
    first, _, _ = matching.raw(record).partition("\n")
    return parse(layout.ENTRY_DETAIL, first)


def _turned(reply: AchReply) -> EntryDetail:
    """The entry of an answer: what came in, as an answer has to have it. Some banks leave the code
    of the entry that they send back, or its name out. Raises common.crypto.Undecryptable."""
    record = reply.record
    said = _said(record)
    if said is None:
        raise ValueError(f"record {record.pk} does not read as it did")
    kind, entry = said.transaction_code // 10 * 10, record.entry
    name = _written(said.individual_name)
    return said._replace(
        transaction_code=kind + (6 if said.transaction_code in codes.DEBITS else 1),
        receiving_dfi_identification=record.rdfi_routing,
        check_digit=check_digit(record.rdfi_routing),
        dfi_account_number=_written(said.dfi_account_number),
        amount=0 if reply.kind == ReplyKind.REFUSAL else said.amount,
        individual_identification_number=_written(said.individual_identification_number),
        individual_name=name or (entry.name if entry else ""),
        discretionary_data=_written(said.discretionary_data),
        addenda_record_indicator=1,
        trace_number=reply.trace_number,
    )


def _entry(reply: AchReply) -> Entry:
    """What came in turned round: it goes to the bank of the account holder."""
    record, detail = reply.record, _turned(reply)
    if reply.kind == ReplyKind.DISHONOR:
        return Entry(detail, (_dishonored(reply, record),))
    return Entry(detail, (_refused(reply, record),))


def _written(text: str) -> str:
    """As our files have it. Banks send small letters, and text that is justified to the right."""
    return text.strip().upper()


def _dishonored(reply: AchReply, record: InRecord) -> Addenda99Dishonored:
    settled = record.settlement_day
    reason = record.reason_code or record.code
    return Addenda99Dishonored(
        dishonored_return_reason_code=reply.code,
        original_entry_trace_number=record.original_trace,
        original_receiving_dfi_identification=record.rdfi_routing,
        return_trace_number=record.rdfi_trace,
        return_settlement_date=settled.timetuple().tm_yday if settled else None,
        return_reason_code=reason[1:],
        addenda_information=_written(reply.information),
        trace_number=reply.trace_number,
    )


def _refused(reply: AchReply, record: InRecord) -> Addenda98Refused:
    _, _, text = matching.raw(record).partition("\n")
    change = parse(layout.ADDENDA_98, text.split("\n")[0])
    return Addenda98Refused(
        refused_cor_code=reply.code,
        original_entry_trace_number=record.original_trace,
        original_receiving_dfi_identification=record.rdfi_routing,
        corrected_data=change.corrected_data.strip().upper() if change else "",
        change_code=record.code,
        trace_sequence_number=record.rdfi_trace[8:],
        trace_number=reply.trace_number,
    )


def _tell(reply: AchReply, now: datetime) -> None:
    """Have it told that the money of a return comes back: only where the entry is returned in our
    books by what we dishonored."""
    record, entry = reply.record, reply.record.entry
    is_applied = record.status == RecordStatus.APPLIED
    if reply.kind != ReplyKind.DISHONOR or entry is None or not is_applied:
        return
    AchEvent.about(
        entry,
        AchEventKind.RETURN_DISHONORED,
        record=record,
        code=reply.code,
        reason=return_codes.lookup(reply.code).title,
        settlement_date=reply.batch.effective_date if reply.batch else None,
        now=now,
    ).save(force_insert=True)
