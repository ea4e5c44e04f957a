"""One instruction as the bank knows it: its entries, their lives, and what was said of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from common import crypto
from common.errors import NotFound
from desk.entries import reversals
from desk.entries.reversals import ReversalLine
from desk.files.lines import WAITS_FOR
from networks import return_codes
from networks.ach import following, redacting
from networks.ach.models import AchEntry, AchEvent, InRecord
from networks.ach.models.entries import PRENOTE
from networks.ach.models.inbound import RecordKind
from networks.ach.states import EntryStatus
from networks.base import Purpose
from tenants import selectors

SHOWN = 50
TONES = {
    EntryStatus.WAITING: "info",
    EntryStatus.FROZEN: "info",
    EntryStatus.SENT: "info",
    EntryStatus.ACCEPTED: "info",
    EntryStatus.FINAL: "good",
    EntryStatus.RETURNED: "bad",
    EntryStatus.REJECTED: "bad",
    EntryStatus.WITHDRAWN: "neutral",
    EntryStatus.REQUEUED: "neutral",
}
_PAGES = {
    "ftx": ("Funding", "desk:funding"),
    "pay": ("Payment", "desk:payment"),
}
_ENDS = {
    EntryStatus.FINAL: "Final: the time for ordinary returns is over",
    EntryStatus.RETURNED: "Returned",
    EntryStatus.REJECTED: "Rejected by the bank",
    EntryStatus.WITHDRAWN: "Withdrawn",
    EntryStatus.REQUEUED: "Refused with its file or batch; another entry took its place",
}
_TOLD = {
    "accepted": "accepted",
    "rescheduled": "it settles later than was said",
    "settled": "settled between the banks",
    "final": "final",
    "rejected": "rejected",
    "returned": "returned",
    "corrected": "corrected",
    "return_dishonored": "the return was dishonored",
    "return_contested": "the dishonor was contested",
    "received": "received",
}


@dataclass(frozen=True)
class Moment:
    """One thing that happened to an entry. `href` leads to where it happened."""

    at: datetime
    what: str
    note: str = ""
    href: str = ""


@dataclass(frozen=True)
class RecordLine:
    """What a bank said, as it came, with account numbers masked."""

    row: InRecord
    kind: str
    meaning: str
    raw: str


@dataclass(frozen=True)
class EntryPage:
    """Everything the page shows. `entry` is the one that stands for the instruction now."""

    entry: AchEntry
    tone: str
    state: str
    waits_for: str
    code: str
    tenant: str
    subject: str
    subject_href: str
    moments: list[Moment]
    records: list[RecordLine]
    told: list[tuple[AchEvent, str]]
    reversals: list[ReversalLine]
    may_be_taken_out: bool
    may_be_reversed: bool


def entry_page(instruction_id: str) -> EntryPage:
    """Some eight queries. Raises NotFound."""
    rows = entries_of(instruction_id)
    entry = _counted(rows)
    subject, subject_href = _subject(instruction_id)
    names = selectors.tenant_names([entry.tenant_id] if entry.tenant_id else [])
    events = AchEvent.objects.filter(entry__in=rows).order_by("due_at", "pk")[:SHOWN]
    status = EntryStatus(entry.status)
    taken_back = reversals.of_entries(rows)
    return EntryPage(
        entry=entry,
        tone=TONES[status],
        state=str(status.label).capitalize(),
        waits_for=WAITS_FOR.get(entry.waits_for, "") if status == EntryStatus.WAITING else "",
        code=meaning(entry.code),
        tenant=names.get(entry.tenant_id, ""),
        subject=subject,
        subject_href=subject_href,
        moments=sorted(_moments(rows), key=lambda moment: moment.at),
        records=_records(rows),
        told=[(event, _TOLD[event.kind]) for event in events],
        reversals=taken_back,
        may_be_taken_out=status == EntryStatus.FROZEN,
        may_be_reversed=status in following.REVERSIBLE
        and entry.purpose not in {Purpose.REVERSAL, PRENOTE}
        and not any(line.is_live for line in taken_back),
    )


def entries_of(instruction_id: str) -> list[AchEntry]:
    """The entries of an instruction, oldest first, the one that counts among them. Raises
    NotFound."""
    if "\0" in instruction_id:
        raise NotFound("There is no such entry.")
    mine = AchEntry.objects.select_related("batch", "batch__file", "originator")
    replaced = mine.filter(instruction_id=instruction_id, status=EntryStatus.REQUEUED)
    live = mine.filter(instruction_id=instruction_id).exclude(status=EntryStatus.REQUEUED)
    rows = sorted([*replaced[:SHOWN], *live[:1]], key=lambda row: row.pk)
    if not rows:
        raise NotFound("There is no such entry.")
    return rows


def live(instruction_id: str) -> AchEntry:
    """The entry that stands for an instruction now. Raises NotFound."""
    return _counted(entries_of(instruction_id))


def found(text: str) -> str | None:
    """The id of the instruction that a person means by an id, a trace number or a reference."""
    text = text.strip()
    if not text or "\0" in text:
        return None
    rows = AchEntry.objects.order_by("-pk")
    if text.isascii() and text.isdecimal() and len(text) == 15:
        row = rows.filter(trace_number=text).first()
    elif text.startswith("ACH") and text[3:].isascii() and text[3:].isdecimal():
        row = rows.filter(pk=int(text[3:][:18])).first()
    else:
        row = rows.filter(instruction_id=text).exclude(status=EntryStatus.REQUEUED).first()
    return row.instruction_id if row else None


def meaning(code: str) -> str:
    """`R01: Insufficient funds`, or the code alone; of a code of our own the words alone."""
    known = return_codes.ALL.get(code)
    words = known.title if known else return_codes.CHANGES.get(code, "")
    if words and not code[-2:].isdigit():
        return words
    return f"{code}: {words}" if words else code


def masked(token: str, context: str) -> str:
    """Raw records as they came, with account numbers masked."""
    try:
        raw = crypto.decrypt(token, context=context)
    except crypto.Undecryptable:
        return "It cannot be opened with the keys that this installation has."
    return b"".join(redacting.redacted([raw.encode("latin-1", errors="replace")])).decode("latin-1")


def _counted(rows: Sequence[AchEntry]) -> AchEntry:
    return next((row for row in rows if row.status != EntryStatus.REQUEUED), rows[-1])


def _subject(instruction_id: str) -> tuple[str, str]:
    label, page = _PAGES.get(instruction_id.partition("_")[0], ("", ""))
    return label, reverse(page, args=[instruction_id]) if page else ""


def _moments(rows: Sequence[AchEntry]) -> Iterator[Moment]:
    for row in rows:
        yield Moment(row.created_at, "Taken over", row.reference)
        if row.frozen_at and row.batch:
            file = row.batch.file
            address = reverse("desk:file_batch", args=[file.pk, row.batch.batch_number])
            yield Moment(row.frozen_at, "Put into a file", f"Trace {row.trace_number}", address)
        if row.sent_at:
            yield Moment(row.sent_at, "Sent to the bank")
        if row.accepted_at:
            day = f"Settles {row.settlement_date:%b %-d, %Y}" if row.settlement_date else ""
            yield Moment(row.accepted_at, "Accepted", day)
        if row.ended_at:
            yield Moment(row.ended_at, _ENDS[EntryStatus(row.status)], meaning(row.code))


def _records(rows: Sequence[AchEntry]) -> list[RecordLine]:
    """What banks said of these entries, or of their trace numbers. Two queries."""
    traces = [row.trace_number for row in rows if row.trace_number]
    by_entry = InRecord.objects.filter(entry__in=rows).select_related("file")
    by_trace = InRecord.objects.filter(original_trace__in=traces).select_related("file")
    named = {row.pk: row for row in [*by_entry[:SHOWN], *by_trace[:SHOWN]]}
    return [
        RecordLine(
            row=row,
            kind=str(RecordKind(row.kind).label).capitalize(),
            meaning=meaning(row.code),
            raw=masked(row.raw_token, row.encryption_context),
        )
        for _pk, row in sorted(named.items())
    ]
