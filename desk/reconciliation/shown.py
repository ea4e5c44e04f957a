"""Lines of the books and of banks as the pages of reconciliation show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from django.db.models import Count, Q, QuerySet, Sum

from balance.operator import lines
from balance.operator.accounts import Step
from balance.operator.lines import Cause
from desk.reconciliation import origins
from networks.calendar import ONE_DAY
from reconciliation import figures
from reconciliation.models import (
    BankStatement,
    ClosedDay,
    ExpectedLine,
    Match,
    SettlementAccount,
    StatementLine,
    TransitNote,
)

SHOWN = 50
# By the banking days since the bank should have shown a line.
AGES = {
    0: "of the same day",
    1: "1 banking day",
    2: "2 banking days",
    3: "more than 2 banking days",
}


@dataclass(frozen=True, kw_only=True)
class BooksLine:
    """A line of the books that the bank should show. `href` leads to what caused it, if that has a
    page. `match_id` is empty while no line of the bank is matched with it. `age` is in banking
    days; `note` says why it takes longer."""

    line: int
    what: str
    amount: int
    counts_on: date
    source_id: str
    tenant_id: str
    href: str
    match_id: str
    reference: str
    age: int = 0
    note: TransitNote | None = None


@dataclass(frozen=True, kw_only=True)
class Age:
    """What has been in transit for so many banking days."""

    age: int
    words: str
    sums: figures.Sums
    is_late: bool


def ages(found: figures.Figures) -> list[Age]:
    """In the order of their age, without those that are empty."""
    return [
        Age(age=age, words=AGES[age], sums=sums, is_late=age > figures.LONG_AFTER)
        for age, sums in sorted(found.in_transit.items())
        if sums.lines
    ]


def books_lines(rows: Sequence[ExpectedLine], *, day: date | None = None) -> list[BooksLine]:
    """Lines with what caused them, in five queries at most. `day`: how old they are on it."""
    ids = [row.line for row in rows]
    causes = lines.causes_of(ids)
    pages = origins.pages_of(causes.values())
    notes = _notes(ids) if day else {}
    return [_books_line(row, causes.get(row.line), pages, day, notes.get(row.line)) for row in rows]


def _books_line(
    row: ExpectedLine,
    cause: Cause | None,
    pages: Mapping[str, str],
    day: date | None,
    note: TransitNote | None,
) -> BooksLine:
    return BooksLine(
        line=row.line,
        what=Step(row.step).label,
        amount=row.amount,
        counts_on=row.counts_on,
        source_id=cause.source_id if cause else "",
        tenant_id=cause.tenant_id if cause else "",
        href=pages.get(cause.source_id, "") if cause else "",
        match_id=row.match_id or "",
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


def counted(account: SettlementAccount, day: date) -> tuple[figures.Base, QuerySet[ExpectedLine]]:
    """What the books said before a day, and the lines that they have counted since and up to it."""
    closed = ClosedDay.objects.filter(rail=account.rail_id, day=day)
    of_day = closed.select_related("statement__account").first()
    base = figures.base_of(of_day.statement.account if of_day else account, before=day)
    rows = ExpectedLine.objects.filter(rail=account.rail_id)
    return base, rows.filter(counts_on__gt=base.day, counts_on__lte=day)


def sums_of(rows: QuerySet[ExpectedLine]) -> figures.Sums:
    """How many lines they are, and what they come to. One query."""
    found = rows.aggregate(
        lines=Count("pk"),
        credits=Sum("amount", filter=Q(amount__gt=0), default=0),
        debits=Sum("amount", filter=Q(amount__lt=0), default=0),
    )
    return figures.Sums(found["lines"], int(found["credits"]), -int(found["debits"]))


def in_transit(
    account: SettlementAccount, day: date, *, age: int | None = None
) -> QuerySet[ExpectedLine]:
    """What the books count up to the day and no statement up to then shows: as it was when the day
    closed, or as it is now (`figures.IN_TRANSIT`). All, or what is so many banking days old; 3 are
    3 or more."""
    rows = _in_transit(account, day)
    if age is None:
        return rows
    first, last = _days_of_age(age, day)
    rows = rows.filter(counts_on__lte=last)
    return rows if first is None else rows.filter(counts_on__gte=first)


def _in_transit(account: SettlementAccount, day: date) -> QuerySet[ExpectedLine]:
    rail = account.rail_id
    if closed := ClosedDay.objects.filter(rail=rail, day=day).first():
        kept = closed.lines_in_transit.values("line")
        return ExpectedLine.objects.filter(rail=rail, line__in=kept, counts_on__lte=day)
    counted = ExpectedLine.objects.filter(rail=rail, counts_on__range=(account.opened_on, day))
    unmatched = counted.filter(match=None).values("line")
    shown_later = counted.filter(match__rail=rail, match__day__gt=day).values("line")
    return ExpectedLine.objects.filter(line__in=unmatched.union(shown_later, all=True))


def _days_of_age(age: int, day: date) -> tuple[date | None, date]:
    """The first and the last day whose lines are so old on `day`; there is no first one of those
    that are too old."""
    last = day
    while figures.age(last, day) < age:
        last -= ONE_DAY
    if age > figures.LONG_AFTER:
        return None, last
    first = last
    while figures.age(first - ONE_DAY, day) == age:
        first -= ONE_DAY
    return first, last


def ahead(account: SettlementAccount, day: date) -> QuerySet[ExpectedLine]:
    """What a statement up to the day shows and the books count later (`figures.AHEAD`)."""
    rows = ExpectedLine.objects.filter(rail=account.rail_id, counts_on__gt=day)
    if closed := ClosedDay.objects.filter(rail=account.rail_id, day=day).first():
        return rows.filter(line__in=closed.lines_in_transit.values("line"))
    return rows.filter(match__rail=account.rail_id, match__day__range=(account.opened_on, day))


def candidates(line: StatementLine, *, amount: int | None = None) -> list[ExpectedLine]:
    """Lines of the books that the bank's line may be, 50 at most: those of `amount` cents, or first
    those of its own amount and then others of its direction. The nearest in days first."""
    rows, day = open_books(line.statement.account.rail_id), line.statement.last_day
    if amount is not None:
        return nearest(rows.filter(amount=amount), day)
    same = nearest(rows.filter(amount=line.amount), day)
    way = Q(amount__gt=0) if line.amount > 0 else Q(amount__lt=0)
    return [*same, *nearest(rows.filter(way).exclude(amount=line.amount), day)][:SHOWN]


def nearest(rows: QuerySet[ExpectedLine], day: date) -> list[ExpectedLine]:
    """The 50 lines whose days are nearest to a day. Each side of it is read in the order of an
    index."""
    found = [
        *rows.filter(counts_on__lte=day).order_by("-counts_on", "-line")[:SHOWN],
        *rows.filter(counts_on__gt=day).order_by("counts_on", "line")[:SHOWN],
    ]
    return sorted(found, key=lambda each: (abs(each.counts_on - day), each.line))[:SHOWN]


def days_beside(rail: str, day: date) -> tuple[date | None, date | None]:
    """The days of the statements before and after a day, None where there is none."""
    days = BankStatement.objects.filter(account__rail=rail).values_list("last_day", flat=True)
    return (
        days.filter(last_day__lt=day).order_by("-last_day").first(),
        days.filter(last_day__gt=day).order_by("last_day").first(),
    )


def closed_days(rail: str) -> QuerySet[ClosedDay]:
    return ClosedDay.objects.filter(rail=rail).select_related("statement__account")


def matches(rail: str, day: date) -> QuerySet[Match]:
    """Those of the day that hold."""
    return Match.objects.filter(rail=rail, day=day, voided_at__isnull=True)
