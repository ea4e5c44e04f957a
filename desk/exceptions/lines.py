"""What a person has to decide, of all rails: one list, the deadline that comes first on top."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from types import MappingProxyType
from typing import Any

from django.db.models import DateField, DateTimeField, Exists, OuterRef, Q, QuerySet
from django.urls import reverse

from common.admin import address_of
from common.engine import compiled
from common.engine.compiled import Given, Statement
from common.engine.lookups import one_of
from desk.entries.page import meaning
from desk.exceptions import codes, instant
from desk.exceptions.line import ExceptionLine
from desk.items import assigning
from desk.items.narrowing import ALL, Narrowing, Whose
from desk.items.subjects import Subject
from desk.models import ItemKind
from desk.proposals import lines as proposals
from desk.rails import stuck
from funding.models import FundingTransaction
from networks.ach.inbound import deadlines, hearing, lines
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
    CorrectionStatus,
    FileStatus,
    InFileStatus,
    RecordStatus,
    ReversalStatus,
    SpokenStatus,
)
from networks.ach.terms import AckFormat
from networks.base import CorrectionOutcome
from networks.instant import reviewing
from payments.models import Payment
from transfers import handlers
from transfers.inbox.models import (
    HandSettlement,
    InboundEvent,
    InboundOutcome,
    SettlementDecision,
)

SHOWN = 50
PAGES_MAX = 10
COUNTED_MAX = 1_000
_LATE_RETURN = "Dishonor it, or let it stand"
_DO = {
    RecordKind.RETURN: "Match it to an entry, dishonor it, or resolve it",
    RecordKind.NOC: "Refuse it with C61 to C69, or resolve it",
    RecordKind.DISHONORED: "Look at what their bank says, then resolve it",
    RecordKind.CONTESTED: "Look at what their bank says, then resolve it",
    RecordKind.CORRECTED_RETURN: "Match it to an entry, dishonor it, or resolve it",
    RecordKind.REFUSED_NOC: "Look at what their bank says, then resolve it",
    RecordKind.RECEIVED: "Find out whose money it is, then resolve it",
}
_LOOK_AT_FILE = "Ask the bank, read it again, or resolve it"
_LOOK_AT_STATEMENT = "Ask the bank for the right one, try again, or dismiss it"
_CONFIRM = "Another person than who wrote it down confirms or rejects it"
_CONFIRM_OR_SILENCE = f"{_CONFIRM}; until then the bank's silence does not count as acceptance"
_RESOLVE = "Look at it, then resolve it"
_APPLY = "Apply it, or refuse it with C61 to C69"
_TRANSFERS: Mapping[ItemKind, type[FundingTransaction] | type[Payment]] = MappingProxyType(
    {ItemKind.FUNDING: FundingTransaction, ItemKind.PAYMENT: Payment}
)


@dataclass(frozen=True)
class ExceptionList:
    lines: list[ExceptionLine]
    page: int
    has_more: bool

    @property
    def subjects(self) -> list[Subject]:
        return [line.subject for line in self.lines]


def exceptions(*, page: int, now: datetime, only: Narrowing = ALL) -> ExceptionList:
    """One page of the list. Seventeen queries, up to twenty-four of a narrowed list; none reads
    more than the pages up to this."""
    found = _found(now, SHOWN * page + 1, only)
    far = now + timedelta(days=36_500)
    found.sort(key=lambda line: (line.deadline or far, line.title, line.href))
    shown = found[SHOWN * (page - 1) : SHOWN * page]
    return ExceptionList(shown, page, len(found) > SHOWN * page and page < PAGES_MAX)


def assigned(user_id: str, *, now: datetime) -> int:
    """How many items this person has to work on, up to what their list shows. One query if they
    have never had one."""
    if not assigning.has_any(user_id):
        return 0
    found = _found(now, SHOWN * PAGES_MAX, Narrowing(Whose.MINE, user_id))
    return len({line.subject for line in found})


def _found(now: datetime, most: int, only: Narrowing) -> list[ExceptionLine]:
    """Up to `most` of each kind, in no order."""
    return [
        *_records(now, most, only),
        *_files(now, most, only),
        *_unanswered(now, most, only),
        *_spoken(now, most, only),
        *_reversals(now, most, only),
        *_undecided(now, most, only),
        *_stopped(now, only),
        *_stuck(now, most, only),
        *_held(now, most, only),
        *_proposed(now, most, only),
        *_lines(now, only),
        *_not_final(now, only),
        *_transfers(now, most, only),
        *_messages(now, most, only),
        *_settlements(now, most, only),
        *instant.conversations(now, most, only),
        *instant.asks(now, most, only),
    ]


def counted(*, now: datetime) -> tuple[int, int]:
    """How many there are, up to `COUNTED_MAX` of a kind, and how many of them are overdue. Two
    queries."""
    today = deadlines.eastern_day(now)
    return _total(_open(), now=now), _total(_late(), now=now, today=today)


def _total(numbers: Statement, **given: Any) -> int:
    return sum(number for _kind, number in numbers.rows(**given))


@cache
def _open() -> Statement:
    now = Given("now", DateTimeField())
    kinds: dict[str, QuerySet[Any]] = {
        **_dated(),
        "file": InFile.objects.filter(status=InFileStatus.REVIEW),
        "unanswered file": _overdue(now),
        "answer": _proposed_answers(),
        "reversal": AchReversal.objects.filter(status=ReversalStatus.PROPOSED),
        "proposal": proposals.open_ones(),
        "stuck file": _stuck_files(),
        "held file": _held_files(now),
        "line": lines.in_trouble(),
        "rail": hearing.rails_kept(now=now),
        "instant payment": reviewing.conversations(),
        "return of funds": instant.open_asks(),
    }
    return compiled.counts(kinds, most=COUNTED_MAX)


@cache
def _late() -> Statement:
    now, today = Given("now", DateTimeField()), Given("today", DateField())
    late = {kind: rows.filter(due_on__lt=today) for kind, rows in _dated().items()}
    return compiled.counts({**late, "unanswered file": _overdue(now)}, most=COUNTED_MAX)


def _dated() -> dict[str, QuerySet[Any]]:
    """Those that have to be decided by a day."""
    return {
        "record": InRecord.objects.filter(status=RecordStatus.REVIEW),
        "late return": InRecord.objects.filter(may_dishonor=True),
        "correction": _left_to_a_person(),
    }


def record_title(record: InRecord) -> str:
    """`Return R01: Insufficient funds`."""
    kind = str(RecordKind(record.kind).label).capitalize()
    return f"{kind}, {meaning(record.code)}" if record.code else kind


def sender(record: InRecord) -> str:
    """Who sends money that nobody asked for: `HARBOR SUPPLY, 1987654321`; empty for other kinds."""
    if record.kind != RecordKind.RECEIVED:
        return ""
    return ", ".join(filter(None, (record.information, record.company_id)))


def to_do(record: InRecord, *, can_be_applied: bool) -> str:
    """What a person can do about a record. Only some changes `can_be_applied`."""
    if record.status != RecordStatus.REVIEW:
        return _LATE_RETURN if record.may_dishonor else ""
    if can_be_applied:
        return _APPLY
    return _DO.get(RecordKind(record.kind), _RESOLVE)


def applicable(records: Collection[int]) -> set[int]:
    """Those of the records whose change a person can apply."""
    found = Correction.objects.filter(
        ~Q(corrected_token=""), one_of("record", records), status=CorrectionStatus.OPEN
    )
    return set(found.values_list("record_id", flat=True))


def _records(now: datetime, most: int, only: Narrowing) -> Iterator[ExceptionLine]:
    rows = only.of(ItemKind.RECORD, InRecord.objects.order_by("due_on", "pk"))
    late = rows.filter(~Q(status=RecordStatus.REVIEW), may_dishonor=True)[:most]
    waiting = list(rows.filter(status=RecordStatus.REVIEW)[:most])
    possible = applicable([row.pk for row in waiting if row.kind == RecordKind.NOC])
    for row in [*waiting, *late]:
        is_open = row.status == RecordStatus.REVIEW
        title = record_title(row)
        yield ExceptionLine(
            subject=Subject(ItemKind.RECORD, str(row.pk)),
            title=title if is_open or row.note else f"Late: {title}",
            detail=_detail(row),
            amount=row.amount or None,
            rail=row.rail_id,
            href=reverse("desk:exception_record", args=[row.pk]),
            to_do=to_do(row, can_be_applied=row.pk in possible),
            since=row.received_at,
            due=row.due_on,
            now=now,
        )


def _detail(record: InRecord) -> str:
    if who := sender(record):
        return f"From {who}"
    late = "" if record.status == RecordStatus.REVIEW else "It came after its time"
    return codes.in_words(record.note) or late


def _files(now: datetime, most: int, only: Narrowing) -> Iterator[ExceptionLine]:
    waiting = InFile.objects.filter(status=InFileStatus.REVIEW).order_by("received_at", "pk")
    for row in only.of(ItemKind.BANK_FILE, waiting)[:most]:
        first = row.faults[0] if row.faults else {}
        yield ExceptionLine(
            subject=Subject(ItemKind.BANK_FILE, row.pk),
            title=f"File set aside: {row.name}",
            detail=str(first.get("detail") or InFolder(row.folder).label),
            amount=None,
            rail=row.rail_id,
            href=reverse("desk:exception_file", args=[row.pk]),
            to_do=_LOOK_AT_STATEMENT if row.folder == InFolder.STATEMENTS else _LOOK_AT_FILE,
            since=row.received_at,
            due=deadlines.review_due(row.received_at),
            now=now,
        )


def _overdue(now: datetime | Given) -> QuerySet[OutFile]:
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


def _unanswered(now: datetime, most: int, only: Narrowing) -> Iterator[ExceptionLine]:
    for row in only.of(ItemKind.FILE, _overdue(now))[:most]:
        yield ExceptionLine(
            subject=Subject(ItemKind.FILE, row.pk),
            title=f"No acknowledgment: {row}",
            detail="The bank has not said whether it took the file",
            amount=row.debit_total + row.credit_total,
            rail=row.rail_id,
            href=reverse("desk:file", args=[row.pk]) + "#answers",
            to_do="Call the bank, and write down what it says of the file",
            since=row.acknowledgment_due_at,
            due=row.acknowledgment_due_at,
            now=now,
        )


def _spoken(now: datetime, most: int, only: Narrowing) -> Iterator[ExceptionLine]:
    waiting = only.of(ItemKind.ANSWER, _proposed_answers())
    for answer in waiting.select_related("file", "file__version")[:most]:
        row = answer.file
        is_silent = row.version.terms.get("ack_format") == AckFormat.NONE
        yield ExceptionLine(
            subject=Subject(ItemKind.ANSWER, answer.pk),
            title=f"Answer by telephone: {row}",
            detail=f"{answer.get_verdict_display()}, says {answer.said_by}",
            amount=row.debit_total + row.credit_total,
            rail=row.rail_id,
            href=reverse("desk:answer", args=[answer.pk]),
            to_do=_CONFIRM_OR_SILENCE if is_silent else _CONFIRM,
            since=answer.proposed_at,
            due=answer.speaks_until if is_silent else row.acknowledgment_due_at,
            now=now,
        )


def _reversals(now: datetime, most: int, only: Narrowing) -> Iterator[ExceptionLine]:
    proposed = AchReversal.objects.filter(status=ReversalStatus.PROPOSED).select_related("entry")
    rows = only.of(ItemKind.REVERSAL, proposed)
    for row in rows.order_by("discovered_at", "pk")[:most]:
        yield ExceptionLine(
            subject=Subject(ItemKind.REVERSAL, row.pk),
            title=f"Reversal: {row.get_reason_display()}",
            detail=row.note,
            amount=row.entry.amount,
            rail=row.entry.rail_id,
            href=reverse("desk:reversal", args=[row.pk]),
            to_do="Another person than who proposed it approves or rejects",
            since=row.proposed_at,
            due=row.discovered_at + deadlines.REVERSAL_AFTER_DISCOVERY,
            now=now,
        )


def _proposed(now: datetime, most: int, only: Narrowing) -> Iterator[ExceptionLine]:
    for row in only.of(ItemKind.PROPOSAL, proposals.open_ones())[:most]:
        yield ExceptionLine(
            subject=Subject(ItemKind.PROPOSAL, row.pk),
            title=f"For a second person: {row.get_kind_display()}",
            detail=row.reason,
            amount=None,
            rail=row.rail_id,
            href=reverse("desk:proposal", args=[row.pk]),
            to_do="Another person than who proposed it approves or rejects",
            since=row.proposed_at,
            due=None,
            now=now,
        )


def _left_to_a_person() -> QuerySet[Correction]:
    """Corrections that were told and that could not be made in the account."""
    found = Correction.objects.filter(outcome=CorrectionOutcome.REVIEW)
    return found.order_by("due_on", "pk")


def _undecided(now: datetime, most: int, only: Narrowing) -> Iterator[ExceptionLine]:
    left = only.of(ItemKind.RECORD, _left_to_a_person(), "record_id")
    for row in left.select_related("record")[:most]:
        yield ExceptionLine(
            subject=Subject(ItemKind.RECORD, str(row.record_id)),
            title=f"Account not corrected: {record_title(row.record)}",
            detail=row.outcome_note,
            amount=None,
            rail=row.record.rail_id,
            href=reverse("desk:exception_record", args=[row.record_id]),
            to_do="Settle the network message about it",
            since=row.outcome_at,
            due=row.due_on,
            now=now,
        )


def _stopped(now: datetime, only: Narrowing) -> Iterator[ExceptionLine]:
    stopped = Originator.objects.filter(debits_stopped_at__isnull=False, ended_at=None)
    rows = only.of(ItemKind.ORIGINATOR, stopped)
    for row in rows.order_by("debits_stopped_at")[:SHOWN]:
        yield ExceptionLine(
            subject=Subject(ItemKind.ORIGINATOR, row.pk),
            title=f"Debits stopped: {row.company_name}",
            detail=row.debits_stopped_why,
            amount=None,
            rail=row.rail_id,
            href=reverse("desk:originator_debits", args=[row.rail_id, row.pk]),
            to_do="Find out why they come back, then let them go on",
            since=row.debits_stopped_at,
            due=None,
            now=now,
        )


def _stuck_files() -> QuerySet[OutFile]:
    return OutFile.objects.filter(stuck_at__isnull=False).order_by("cutoff_at", "pk")


def _stuck(now: datetime, most: int, only: Narrowing) -> Iterator[ExceptionLine]:
    for row in only.of(ItemKind.FILE, _stuck_files())[:most]:
        in_doubt = "Ask the bank whether it has the file, then say so"
        yield ExceptionLine(
            subject=Subject(ItemKind.FILE, row.pk),
            title=f"Not sent: {row}, {row.stuck_code}",
            detail=stuck.advice(row.stuck_code),
            amount=row.debit_total + row.credit_total,
            rail=row.rail_id,
            href=reverse("desk:file", args=[row.pk]),
            to_do=in_doubt if row.is_in_doubt else "Mend the cause, then try again",
            since=row.stuck_at,
            due=row.cutoff_at,
            now=now,
        )


def _held_files(now: datetime | Given) -> QuerySet[OutFile]:
    """Those that must not leave as they are, and those that somebody forgot."""
    held = OutFile.objects.filter(status=FileStatus.HELD)
    return held.filter(~Q(faults=[]) | Q(cutoff_at__lte=now)).order_by("cutoff_at", "pk")


def _held(now: datetime, most: int, only: Narrowing) -> Iterator[ExceptionLine]:
    for row in only.of(ItemKind.FILE, _held_files(now))[:most]:
        what = "Mend what its faults name and build it again, or take it apart"
        yield ExceptionLine(
            subject=Subject(ItemKind.FILE, row.pk),
            title=f"Held: {row}",
            detail=row.held_why,
            amount=row.debit_total + row.credit_total,
            rail=row.rail_id,
            href=reverse("desk:file", args=[row.pk]),
            to_do=what if row.faults else "Offer it again, or take it apart",
            since=row.held_at,
            due=row.cutoff_at,
            now=now,
        )


def _lines(now: datetime, only: Narrowing) -> Iterator[ExceptionLine]:
    for row in only.of(ItemKind.RAIL, lines.in_trouble())[:SHOWN]:
        yield ExceptionLine(
            subject=Subject(ItemKind.RAIL, row.rail_id),
            title=f"Files of {row} are not fetched: {row.trouble}",
            detail=stuck.advice(row.trouble),
            amount=None,
            rail=row.rail_id,
            href=reverse("desk:rail", args=[row.rail_id]),
            to_do="Mend the cause, then look again",
            since=row.trouble_since,
            due=None,
            now=now,
        )


def _not_final(now: datetime, only: Narrowing) -> Iterator[ExceptionLine]:
    for each in _kept(now, only):
        yield ExceptionLine(
            subject=Subject(ItemKind.RAIL, each.rail),
            title=f"Debits of {each.rail} are not final",
            detail=f"{each.number:,} wait until what the bank has for us is fetched and read",
            amount=each.amount,
            rail=each.rail,
            href=reverse("desk:rail", args=[each.rail]),
            to_do="Let files be read, mend their line, resolve those that were set aside",
            since=each.since,
            due=each.since,
            now=now,
        )


def _transfers(now: datetime, most: int, only: Narrowing) -> Iterator[ExceptionLine]:
    """Fundings and payments that the reader took, whatever becomes of them, until they are
    released."""
    if only.whose != Whose.MINE:
        return
    mine = assigning.of_person(only.me, kinds=list(_TRANSFERS), most=most)
    for kind, model in _TRANSFERS.items():
        ids = [subject.id for subject in mine if subject.kind == kind]
        for row in model.objects.filter(one_of("pk", ids)).select_related("tenant"):
            subject = Subject(kind, row.pk)
            yield ExceptionLine(
                subject=subject,
                title=f"{kind.label.capitalize()} of {row.tenant.name}",
                detail=f"Held: {row.hold_reason}" if row.held_at else row.get_status_display(),
                amount=row.amount,
                rail=row.network or "No rail yet",
                href=reverse(f"desk:{kind.value}", args=[row.pk]),
                to_do="Release it when nothing is left to do",
                since=row.held_at or row.created_at,
                due=None,
                now=now,
            )


def _messages(now: datetime, most: int, only: Narrowing) -> Iterator[ExceptionLine]:
    """Messages that the reader took. Those of everybody are a list of their own, which other powers
    open."""
    if only.whose != Whose.MINE:
        return
    waiting = InboundEvent.objects.filter(outcome=InboundOutcome.REVIEW).order_by("pk")
    for row in only.of(ItemKind.MESSAGE, waiting)[:most]:
        subject = Subject(ItemKind.MESSAGE, str(row.pk))
        yield ExceptionLine(
            subject=subject,
            title=f"Network message about {row.instruction_id}",
            detail=row.note or row.reason,
            amount=None if handlers.hides_amount(row.instruction_id) else row.amount,
            rail=row.network,
            href=address_of(row),
            to_do="Try it again, or resolve it with a note",
            since=row.decided_at or row.received_at,
            due=None,
            now=now,
        )


def _settlements(now: datetime, most: int, only: Narrowing) -> Iterator[ExceptionLine]:
    """Settlements by hand that the reader took, as `_messages`."""
    if only.whose != Whose.MINE:
        return
    waiting = HandSettlement.objects.filter(decision=SettlementDecision.OPEN)
    rows = only.of(ItemKind.SETTLEMENT, waiting.order_by("proposed_at", "pk"))
    for row in rows[:most]:
        yield ExceptionLine(
            subject=Subject(ItemKind.SETTLEMENT, row.pk),
            title=f"Settlement by hand: {row.subject_id} is {row.kind}",
            detail=row.reason,
            amount=None if handlers.hides_amount(row.subject_id) else row.amount,
            rail="By hand",
            href=address_of(row),
            to_do="Another person than who proposed it approves or rejects",
            since=row.proposed_at,
            due=None,
            now=now,
        )


def _kept(now: datetime, only: Narrowing) -> list[hearing.Kept]:
    """Those of the rails that the list shows."""
    found = {Subject(ItemKind.RAIL, each.rail): each for each in hearing.kept(now=now)}
    if not found or only.whose == Whose.EVERYBODYS:
        return list(found.values())
    last = assigning.current(found)
    return [each for rail, each in found.items() if only.keeps(assigning.whose(last.get(rail)))]
