"""Lines of the books and of banks as the pages of reconciliation show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse

from balance.operator import lines
from balance.operator.accounts import Step
from balance.operator.lines import Cause
from funding.models.transactions import SOURCE_TYPE as FUNDING
from payments.models.payments import SOURCE_TYPE as PAYMENT
from reconciliation import figures
from reconciliation.booking import SOURCE_TYPE as BOOKED
from reconciliation.models import (
    BookedAs,
    BookedLine,
    Clearing,
    ClosedDay,
    ExpectedLine,
    Match,
    MatchedLine,
    SettlementAccount,
    StatementLine,
    TransitNote,
)
from reconciliation.states import ClearingStatus

SHOWN = 50
_PAGES = {FUNDING: "desk:funding", PAYMENT: "desk:payment", BOOKED: "desk:suspense_line"}


@dataclass(frozen=True, kw_only=True)
class BooksLine:
    """A line of the books that the bank should show. `href` leads to what caused it, if that has a
    page. `age` is in banking days; `note` says why it takes longer."""

    line: int
    what: str
    amount: int
    counts_on: date
    source_id: str
    tenant_id: str
    href: str
    reference: str
    age: int = 0
    note: TransitNote | None = None


@dataclass(frozen=True, kw_only=True)
class Age:
    """What has been in transit for so many banking days."""

    words: str
    sums: figures.Sums
    is_late: bool


@dataclass(frozen=True, kw_only=True)
class SuspenseLine:
    """A line in suspense, and the proposal that waits for a second person, if there is one."""

    row: BookedLine
    proposal: Clearing | None


def ages(found: figures.Figures) -> list[Age]:
    """In the order of their age, without those that are empty."""
    words = ("of the same day", "1 banking day", "2 banking days", "more than 2 banking days")
    return [
        Age(words=words[age], sums=sums, is_late=age > figures.LONG_AFTER)
        for age, sums in sorted(found.in_transit.items())
        if sums.lines
    ]


def books_lines(rows: Sequence[ExpectedLine], *, day: date | None = None) -> list[BooksLine]:
    """Lines with what caused them, in three queries at most. `day`: how old they are on it."""
    ids = [row.line for row in rows]
    causes = lines.causes_of(ids)
    notes = _notes(ids) if day else {}
    return [_books_line(row, causes.get(row.line), day, notes.get(row.line)) for row in rows]


def _books_line(
    row: ExpectedLine, cause: Cause | None, day: date | None, note: TransitNote | None
) -> BooksLine:
    page = _PAGES.get(cause.source_type) if cause else None
    return BooksLine(
        line=row.line,
        what=Step(row.step).label,
        amount=row.amount,
        counts_on=row.counts_on,
        source_id=cause.source_id if cause else "",
        tenant_id=cause.tenant_id if cause else "",
        href=reverse(page, args=[cause.source_id]) if cause and page else "",
        reference=row.reference or row.trace,
        age=figures.age(row.counts_on, day) if day else 0,
        note=note,
    )


def _notes(ids: Iterable[int]) -> Mapping[int, TransitNote]:
    """The newest note on each line."""
    rows = TransitNote.objects.filter(line__in=list(ids)).order_by("line", "-written_at")
    return {row.line: row for row in rows.distinct("line")}


def open_books(rail: str) -> QuerySet[ExpectedLine]:
    """Lines of the books that no line of the bank is matched with."""
    return ExpectedLine.objects.filter(rail=rail, match=None)


def in_transit(account: SettlementAccount, day: date) -> QuerySet[ExpectedLine]:
    """What the books count up to the day and no statement up to then shows: as it was when the day
    closed, or as it is now (`figures.IN_TRANSIT`)."""
    rail = account.rail_id
    if closed := ClosedDay.objects.filter(rail=rail, day=day).first():
        kept = closed.lines_in_transit.values("line")
        return ExpectedLine.objects.filter(rail=rail, line__in=kept, counts_on__lte=day)
    counted = ExpectedLine.objects.filter(rail=rail, counts_on__range=(account.opened_on, day))
    unmatched = counted.filter(match=None).values("line")
    shown_later = counted.filter(match__rail=rail, match__day__gt=day).values("line")
    return ExpectedLine.objects.filter(line__in=unmatched.union(shown_later, all=True))


def ahead(account: SettlementAccount, day: date) -> QuerySet[ExpectedLine]:
    """What a statement up to the day shows and the books count later (`figures.AHEAD`)."""
    rows = ExpectedLine.objects.filter(rail=account.rail_id, counts_on__gt=day)
    if closed := ClosedDay.objects.filter(rail=account.rail_id, day=day).first():
        return rows.filter(line__in=closed.lines_in_transit.values("line"))
    return rows.filter(match__rail=account.rail_id, match__day__range=(account.opened_on, day))


def open_bank(account: SettlementAccount) -> QuerySet[StatementLine]:
    """Lines of statements whose day is open, and that nothing explains yet. A line of nothing moves
    nothing, so it needs no explanation."""
    matched = MatchedLine.objects.filter(line=OuterRef("pk"), match__isnull=False)
    rows = StatementLine.objects.exclude(amount=0).filter(
        ~Exists(matched), statement__account=account, statement__closed_day=None
    )
    return rows.select_related("statement__account").order_by("statement__last_day", "pk")


def candidates(line: StatementLine, *, amount: int | None = None) -> QuerySet[ExpectedLine]:
    """Lines of the books that the bank's line may be: those of `amount` cents, or those of its
    direction up to its day, the newest first."""
    rows = open_books(line.statement.account.rail_id)
    if amount is not None:
        return rows.filter(amount=amount).order_by("-counts_on", "line")
    same = rows.filter(amount__gt=0) if line.amount > 0 else rows.filter(amount__lt=0)
    return same.filter(counts_on__lte=line.statement.last_day).order_by("-counts_on", "line")


def in_suspense() -> QuerySet[BookedLine]:
    """Lines in suspense, the oldest first."""
    approved = Clearing.objects.filter(status=ClearingStatus.APPROVED)
    rows = BookedLine.objects.filter(
        ~Exists(approved.filter(booked=OuterRef("pk"))),
        ~Exists(approved.filter(other=OuterRef("pk"))),
        booked_as=BookedAs.SUSPENSE,
    )
    return rows.select_related("line__statement__account").order_by("booked_at", "pk")


def with_proposals(found: Sequence[BookedLine]) -> list[SuspenseLine]:
    """Each line with what was proposed of it, also as the other line of an offset."""
    waiting = Clearing.objects.filter(status=ClearingStatus.PROPOSED)
    proposals: dict[str, Clearing] = {}
    for each in waiting.filter(Q(booked__in=found) | Q(other__in=found)):
        proposals[each.booked_id] = each
        if each.other_id:
            proposals[each.other_id] = each
    return [SuspenseLine(row=row, proposal=proposals.get(row.pk)) for row in found]


def closed_days(rail: str) -> QuerySet[ClosedDay]:
    return ClosedDay.objects.filter(rail=rail).select_related("statement__account")


def matches(rail: str, day: date) -> QuerySet[Match]:
    """Those of the day that hold."""
    return Match.objects.filter(rail=rail, day=day, voided_at__isnull=True)
