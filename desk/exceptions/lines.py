"""What a person has to decide, of all rails: one list, the deadline that comes first on top."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse

from common.days import start_of
from desk.entries.page import meaning
from desk.rails import stuck
from networks.ach import bank_clock
from networks.ach.inbound import deadlines, lines
from networks.ach.models import (
    AchReversal,
    Correction,
    InFile,
    InRecord,
    Originator,
    OutFile,
    SpokenAnswer,
)
from networks.ach.models.inbound import InFolder, RecordKind
from networks.ach.states import (
    FileStatus,
    InFileStatus,
    RecordStatus,
    ReversalStatus,
    SpokenStatus,
)
from networks.base import CorrectionOutcome

SHOWN = 50
PAGES_MAX = 10
COUNTED_MAX = 1_000
SOON = timedelta(days=1)
_LATE_RETURN = "Dishonor it, or let it stand"
_DO = {
    RecordKind.RETURN: "Match it to an entry, dishonor it, or resolve it",
    RecordKind.NOC: "Apply it, or refuse it with C61 to C69",
    RecordKind.DISHONORED: "Look at what their bank says, then resolve it",
    RecordKind.CONTESTED: "Look at what their bank says, then resolve it",
    RecordKind.CORRECTED_RETURN: "Match it to an entry, dishonor it, or resolve it",
    RecordKind.REFUSED_NOC: "Look at what their bank says, then resolve it",
    RecordKind.RECEIVED: "Find out whose money it is, then resolve it",
}
_RESOLVE = "Look at it, then resolve it"


@dataclass(frozen=True)
class ExceptionLine:
    """One thing to decide. `deadline` None: there is none. `seconds` are until it, below zero when
    it has passed."""

    title: str
    detail: str
    amount: int | None
    rail: str
    href: str
    to_do: str
    deadline: datetime | None
    seconds: int

    @property
    def tone(self) -> str:
        if self.deadline is None:
            return "neutral"
        if self.seconds <= 0:
            return "bad"
        return "warn" if self.seconds <= SOON.total_seconds() else "info"


@dataclass(frozen=True)
class ExceptionList:
    lines: list[ExceptionLine]
    page: int
    has_more: bool


def exceptions(*, page: int, now: datetime) -> ExceptionList:
    """One page of the list. Twelve queries, none of which reads more than the pages up to this."""
    most = SHOWN * page + 1
    found = [
        *_records(now, most),
        *_files(now, most),
        *_unanswered(now, most),
        *_spoken(now, most),
        *_reversals(now, most),
        *_undecided(now, most),
        *_stopped(now),
        *_stuck(now, most),
        *_held(now, most),
        *_lines(now),
    ]
    far = now + timedelta(days=36_500)
    found.sort(key=lambda line: (line.deadline or far, line.title, line.href))
    shown = found[SHOWN * (page - 1) : SHOWN * page]
    return ExceptionList(shown, page, len(found) > SHOWN * page and page < PAGES_MAX)


def counted(*, now: datetime) -> tuple[int, int]:
    """How many there are, up to `COUNTED_MAX` of a kind, and how many of them are overdue."""
    today = deadlines.eastern_day(now)
    open_records = [
        *InRecord.objects.filter(status=RecordStatus.REVIEW)
        .order_by("due_on", "pk")
        .values_list("due_on", flat=True)[:COUNTED_MAX],
        *InRecord.objects.filter(may_dishonor=True)
        .order_by("due_on", "pk")
        .values_list("due_on", flat=True)[:COUNTED_MAX],
    ]
    files = InFile.objects.filter(status=InFileStatus.REVIEW)[:COUNTED_MAX].count()
    silent = _overdue(now)[:COUNTED_MAX].count()
    proposed = AchReversal.objects.filter(status=ReversalStatus.PROPOSED)[:COUNTED_MAX].count()
    kept = _stuck_files()[:COUNTED_MAX].count() + lines.in_trouble()[:SHOWN].count()
    kept += _held_files(now)[:COUNTED_MAX].count()
    kept += _proposed_answers()[:COUNTED_MAX].count()
    open_records += _left_to_a_person().values_list("due_on", flat=True)[:COUNTED_MAX]
    late = sum(1 for due in open_records if due is not None and due < today)
    return len(open_records) + files + silent + proposed + kept, late + silent


def until(day: date | None) -> datetime | None:
    """The end of a day of the banks, in New York."""
    return bank_clock.here(start_of(day + timedelta(days=1))) if day else None


def record_title(record: InRecord) -> str:
    """`Return R01: Insufficient funds`."""
    kind = str(RecordKind(record.kind).label).capitalize()
    return f"{kind}, {meaning(record.code)}" if record.code else kind


def to_do(record: InRecord) -> str:
    """What a person can do about a record."""
    if record.status != RecordStatus.REVIEW:
        return _LATE_RETURN if record.may_dishonor else ""
    return _DO.get(RecordKind(record.kind), _RESOLVE)


def _records(now: datetime, most: int) -> Iterator[ExceptionLine]:
    rows = InRecord.objects.order_by("due_on", "pk")
    late = rows.filter(~Q(status=RecordStatus.REVIEW), may_dishonor=True)[:most]
    for row in [*rows.filter(status=RecordStatus.REVIEW)[:most], *late]:
        is_open = row.status == RecordStatus.REVIEW
        title = record_title(row)
        yield _line(
            title if is_open or row.note else f"Late: {title}",
            row.note or ("" if is_open else "It came after its time"),
            row.amount or None,
            row.rail_id,
            reverse("desk:exception_record", args=[row.pk]),
            to_do(row),
            until(row.due_on),
            now,
        )


def _files(now: datetime, most: int) -> Iterator[ExceptionLine]:
    waiting = InFile.objects.filter(status=InFileStatus.REVIEW).order_by("received_at", "pk")
    for row in waiting[:most]:
        first = row.faults[0] if row.faults else {}
        yield _line(
            f"File set aside: {row.name}",
            str(first.get("detail") or InFolder(row.folder).label),
            None,
            row.rail_id,
            reverse("desk:exception_file", args=[row.pk]),
            "Ask the bank, read it again, or resolve it",
            until(deadlines.review_due(row.received_at)),
            now,
        )


def _overdue(now: datetime) -> QuerySet[OutFile]:
    """Files that wait too long, and of which nobody wrote down what the bank said."""
    sent = OutFile.objects.filter(
        ~Exists(_proposed_answers().filter(file=OuterRef("pk")).order_by()),
        status=FileStatus.SENT,
        acknowledgment_due_at__lte=now,
    )
    return sent.order_by("acknowledgment_due_at", "pk")


def _proposed_answers() -> QuerySet[SpokenAnswer]:
    open_ones = SpokenAnswer.objects.filter(status=SpokenStatus.PROPOSED)
    return open_ones.order_by("proposed_at", "pk")


def _unanswered(now: datetime, most: int) -> Iterator[ExceptionLine]:
    for row in _overdue(now)[:most]:
        yield _line(
            f"No acknowledgment: {row}",
            "The bank has not said whether it took the file",
            row.debit_total + row.credit_total,
            row.rail_id,
            reverse("desk:file", args=[row.pk]) + "#answers",
            "Call the bank, and write down what it says of the file",
            row.acknowledgment_due_at,
            now,
        )


def _spoken(now: datetime, most: int) -> Iterator[ExceptionLine]:
    for answer in _proposed_answers().select_related("file")[:most]:
        row = answer.file
        yield _line(
            f"Answer by telephone: {row}",
            f"{answer.get_verdict_display()}, says {answer.said_by}",
            row.debit_total + row.credit_total,
            row.rail_id,
            reverse("desk:answer", args=[answer.pk]),
            "Another person than who wrote it down confirms or rejects it",
            row.acknowledgment_due_at,
            now,
        )


def _reversals(now: datetime, most: int) -> Iterator[ExceptionLine]:
    proposed = AchReversal.objects.filter(status=ReversalStatus.PROPOSED).select_related("entry")
    for row in proposed.order_by("discovered_at", "pk")[:most]:
        yield _line(
            f"Reversal: {row.get_reason_display()}",
            row.note,
            row.entry.amount,
            row.entry.rail_id,
            reverse("desk:reversal", args=[row.pk]),
            "Another person than who proposed it approves or rejects",
            row.discovered_at + deadlines.REVERSAL_AFTER_DISCOVERY,
            now,
        )


def _left_to_a_person() -> QuerySet[Correction]:
    """Corrections that were told and that could not be made in the account."""
    found = Correction.objects.filter(outcome=CorrectionOutcome.REVIEW)
    return found.order_by("due_on", "pk")


def _undecided(now: datetime, most: int) -> Iterator[ExceptionLine]:
    for row in _left_to_a_person().select_related("record")[:most]:
        yield _line(
            f"Account not corrected: {record_title(row.record)}",
            row.outcome_note,
            None,
            row.record.rail_id,
            reverse("desk:exception_record", args=[row.record_id]),
            "Settle the network message about it",
            until(row.due_on),
            now,
        )


def _stopped(now: datetime) -> Iterator[ExceptionLine]:
    stopped = Originator.objects.filter(debits_stopped_at__isnull=False, ended_at=None)
    for row in stopped.order_by("debits_stopped_at")[:SHOWN]:
        yield _line(
            f"Debits stopped: {row.company_name}",
            row.debits_stopped_why,
            None,
            row.rail_id,
            reverse("desk:originator_debits", args=[row.rail_id, row.pk]),
            "Find out why they come back, then let them go on",
            None,
            now,
        )


def _stuck_files() -> QuerySet[OutFile]:
    return OutFile.objects.filter(stuck_at__isnull=False).order_by("cutoff_at", "pk")


def _stuck(now: datetime, most: int) -> Iterator[ExceptionLine]:
    for row in _stuck_files()[:most]:
        in_doubt = "Ask the bank whether it has the file, then say so"
        yield _line(
            f"Not sent: {row}, {row.stuck_code}",
            stuck.advice(row.stuck_code),
            row.debit_total + row.credit_total,
            row.rail_id,
            reverse("desk:file", args=[row.pk]),
            in_doubt if row.is_in_doubt else "Mend the cause, then try again",
            row.cutoff_at,
            now,
        )


def _held_files(now: datetime) -> QuerySet[OutFile]:
    """Those that must not leave as they are, and those that somebody forgot."""
    held = OutFile.objects.filter(status=FileStatus.HELD)
    return held.filter(~Q(faults=[]) | Q(cutoff_at__lte=now)).order_by("cutoff_at", "pk")


def _held(now: datetime, most: int) -> Iterator[ExceptionLine]:
    for row in _held_files(now)[:most]:
        what = "Mend what its faults name and build it again, or take it apart"
        yield _line(
            f"Held: {row}",
            row.held_why,
            row.debit_total + row.credit_total,
            row.rail_id,
            reverse("desk:file", args=[row.pk]),
            what if row.faults else "Offer it again, or take it apart",
            row.cutoff_at,
            now,
        )


def _lines(now: datetime) -> Iterator[ExceptionLine]:
    for row in lines.in_trouble()[:SHOWN]:
        yield _line(
            f"Files of {row} are not fetched: {row.trouble}",
            stuck.advice(row.trouble),
            None,
            row.rail_id,
            reverse("desk:rail", args=[row.rail_id]),
            "Mend the cause, then look again",
            None,
            now,
        )


def _line(
    title: str,
    detail: str,
    amount: int | None,
    rail: str,
    href: str,
    what: str,
    deadline: datetime | None,
    now: datetime,
) -> ExceptionLine:
    seconds = int((deadline - now).total_seconds()) if deadline else 0
    return ExceptionLine(title, detail, amount, rail, href, what, deadline, seconds)
