"""What a day of a settlement account comes to: the books, the bank, and what lies between them.

The page, the command and the metric show these figures, and a day closes by them. All are cents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

from django.db import connection

from networks import calendar
from reconciliation.models import ClosedDay, SettlementAccount

# A line is expected on the statement of its day, or of one of the two banking days after it.
LONG_AFTER = 2  # banking days


class Sums(NamedTuple):
    """Some lines: how many, and what their credits and their debits (a positive sum) come to."""

    lines: int = 0
    credits: int = 0
    debits: int = 0

    @property
    def net(self) -> int:
        return self.credits - self.debits

    @property
    def gross(self) -> int:
        """Credits and debits together, which do not cancel each other out."""
        return self.credits + self.debits

    def plus(self, other: Sums) -> Sums:
        """Both together."""
        return Sums(*map(sum, zip(self, other, strict=True)))


NOTHING = Sums()


@dataclass(frozen=True, kw_only=True)
class Figures:
    """One day of an account. `bank` is the closing balance of its statement, None without one.

    `in_transit` is what the books count and no statement up to this day shows, by the banking days
    since it was to be there: 0, 1, 2, and 3 for more. `ahead` is what a statement showed that the
    books count on a later day. `unmatched` are lines of the bank that nothing explains. `closed`
    is the day's row once it is closed.
    """

    rail: str
    day: date
    ledger: int
    bank: int | None
    in_transit: Mapping[int, Sums] = field(default_factory=dict)
    ahead: Sums = NOTHING
    unmatched: Sums = NOTHING
    overdue: Sums = NOTHING
    closed: ClosedDay | None = None

    @property
    def explained(self) -> int:
        """By how much the books may differ from the bank: each line of it has a name."""
        return sum(sums.net for sums in self.in_transit.values()) - self.ahead.net

    @property
    def difference(self) -> int | None:
        """What nothing explains; a day closes at zero. None without a statement."""
        return None if self.bank is None else self.ledger - self.explained - self.bank

    @property
    def unreconciled(self) -> int:
        """Cents that somebody has to look at: lines of the bank that nothing explains, and lines of
        the books that are overdue. Credits and debits do not cancel each other out."""
        return self.unmatched.gross + self.overdue.gross


class Base(NamedTuple):
    """From where an account's books are counted: cents at the end of a day that closed, or before
    the first one."""

    day: date
    cents: int
    is_closed: bool


# What the books count up to the day and no statement up to then shows.
IN_TRANSIT = """
    SELECT line, amount, counts_on, step FROM reconciliation_expectedline
    WHERE rail_id = %(rail)s AND match_id IS NULL
        AND counts_on BETWEEN %(opened_on)s AND %(day)s
    UNION ALL
    SELECT line, expected.amount, counts_on, step
    FROM reconciliation_match AS match
    JOIN reconciliation_expectedline AS expected ON expected.match_id = match.id
    WHERE match.rail_id = %(rail)s AND match.day > %(day)s
        AND counts_on BETWEEN %(opened_on)s AND %(day)s
"""
# What a statement up to the day shows and the books count later.
AHEAD = """
    SELECT line, expected.amount, counts_on, step
    FROM reconciliation_expectedline AS expected
    JOIN reconciliation_match AS match ON match.id = expected.match_id
    WHERE expected.rail_id = %(rail)s AND counts_on > %(day)s
        AND match.day BETWEEN %(opened_on)s AND %(day)s
"""
# Of these a person wrote that they stay in transit for longer.
_EXPLAINED = """
    SELECT FROM reconciliation_transitnote AS note
    WHERE note.line = open.line AND note.until >= %(day)s
"""
_LEDGER = """
SELECT coalesce(sum(amount), 0) FROM reconciliation_expectedline
WHERE rail_id = %(rail)s AND counts_on > %(since)s AND counts_on <= %(day)s
"""


def _sums_of(cents: str) -> str:
    """SQL for the Sums of a column."""
    return f"""count(*), coalesce(sum({cents}) FILTER (WHERE {cents} > 0), 0),
        coalesce(-sum({cents}) FILTER (WHERE {cents} < 0), 0)"""


_SUMS = _sums_of("amount")
_BY_DAY = f"SELECT counts_on, {_SUMS} FROM ({IN_TRANSIT}) AS open GROUP BY counts_on"  # noqa: S608
_SHOWN_AHEAD = f"SELECT {_SUMS} FROM ({AHEAD}) AS early"  # noqa: S608  # our own text
_OVERDUE = f"""
FROM ({IN_TRANSIT}) AS open WHERE counts_on <= %(long_ago)s AND NOT EXISTS ({_EXPLAINED})
"""
_OVERDUE_SUMS = f"SELECT {_SUMS} {_OVERDUE}"
_OVERDUE_LINES = f"""
SELECT line, amount, counts_on, step {_OVERDUE} ORDER BY counts_on, line LIMIT %(most)s
"""
# Lines of statements that are not closed yet, up to the day, without those matched up to it. A line
# of nothing moves nothing.
_UNMATCHED = f"""
SELECT {_sums_of("line.amount")}
FROM reconciliation_statementline AS line
LEFT JOIN reconciliation_matchedline AS matched ON matched.line_id = line.id
LEFT JOIN reconciliation_match AS match ON match.id = matched.match_id
WHERE line.statement_id = ANY(%(statements)s) AND line.amount <> 0
    AND (match.id IS NULL OR match.day > %(day)s)
"""  # noqa: S608
_STORED = f"""
SELECT expected.counts_on, {_sums_of("kept.amount")}
FROM reconciliation_intransit AS kept
JOIN reconciliation_expectedline AS expected ON expected.line = kept.line
WHERE kept.day_id = %(day_id)s GROUP BY 1
"""  # noqa: S608


@dataclass(frozen=True, kw_only=True)
class OverdueLine:
    """A line of the books that no statement shows for too long."""

    line: int
    amount: int
    counts_on: date
    step: str


def of(account: SettlementAccount, day: date) -> Figures:
    """The figures of a day as they were when it closed, or as they are now."""
    closed = ClosedDay.objects.filter(rail=account.rail_id, day=day).first()
    return _kept(closed) if closed else now_of(account, day)


def now_of(account: SettlementAccount, day: date) -> Figures:
    """The figures of a day that is not closed. They are of one moment if the account's row is
    locked; then no line of this rail is taken, matched or closed meanwhile."""
    base = base_of(account)
    values = _values(account, day)
    statements = list(account.statements.filter(last_day__gt=base.day, last_day__lte=day))
    last = max(statements, key=lambda each: each.last_day, default=None)
    ((counted,),) = _rows(_LEDGER, values | {"since": base.day})
    return Figures(
        rail=account.rail_id,
        day=day,
        ledger=base.cents + int(counted),
        bank=last.closing if last and last.last_day == day else None,
        in_transit=_by_age(_rows(_BY_DAY, values), day),
        ahead=_sums(_SHOWN_AHEAD, values),
        unmatched=_sums(_UNMATCHED, values | {"statements": [each.pk for each in statements]}),
        overdue=_sums(_OVERDUE_SUMS, values),
    )


def overdue_lines(account: SettlementAccount, day: date, *, most: int) -> list[OverdueLine]:
    """The oldest lines that have been in transit for too long on this day, and have no note."""
    rows = _rows(_OVERDUE_LINES, _values(account, day) | {"most": most})
    return [
        OverdueLine(line=line, amount=int(amount), counts_on=counts_on, step=step)
        for line, amount, counts_on, step in rows
    ]


def base_of(account: SettlementAccount, *, before: date | None = None) -> Base:
    """The end of the account's last closed day, or of the last one `before` a day; or what lay
    there when its first day began."""
    closed = ClosedDay.objects.filter(statement__account=account)
    last = (closed.filter(day__lt=before) if before else closed).order_by("-day").first()
    if last is None:
        return Base(account.opened_on - calendar.ONE_DAY, account.opening, is_closed=False)
    return Base(last.day, last.ledger, is_closed=True)


def age(counts_on: date, day: date) -> int:
    """How many banking days lie after one day, up to and with another one; more than 2 are 3."""
    banking_days = 0
    while counts_on < day and banking_days <= LONG_AFTER:
        counts_on = calendar.next_banking_day(counts_on)
        banking_days += counts_on <= day
    return banking_days


def long_ago(day: date) -> date:
    """The last day whose lines have been in transit for too long on `day`."""
    counts_on = day
    while age(counts_on, day) <= LONG_AFTER:
        counts_on -= calendar.ONE_DAY
    return counts_on


def _values(account: SettlementAccount, day: date) -> dict[str, Any]:
    return {
        "rail": account.rail_id,
        "opened_on": account.opened_on,
        "day": day,
        "long_ago": long_ago(day),
    }


def _rows(statement: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def _sums(statement: str, values: dict[str, Any]) -> Sums:
    ((lines, credits_, debits),) = _rows(statement, values)
    return Sums(lines, int(credits_), int(debits))


def _by_age(rows: Iterable[tuple[date, int, int, int]], day: date) -> dict[int, Sums]:
    ages = dict.fromkeys(range(LONG_AFTER + 2), NOTHING)
    for counts_on, lines, credits_, debits in rows:
        ages[age(counts_on, day)] = ages[age(counts_on, day)].plus(
            Sums(lines, int(credits_), int(debits))
        )
    return ages


def _kept(closed: ClosedDay) -> Figures:
    """What was stored when the day closed. Its lines in transit have the other sign where the
    statement was first."""
    rows = _rows(_STORED, {"day_id": closed.pk})
    early = [row for row in rows if row[0] > closed.day]
    ahead = NOTHING
    for _, lines, credits_, debits in early:
        ahead = ahead.plus(Sums(lines, int(debits), int(credits_)))
    return Figures(
        rail=closed.rail_id,
        day=closed.day,
        ledger=closed.ledger,
        bank=closed.bank,
        in_transit=_by_age((row for row in rows if row[0] <= closed.day), closed.day),
        ahead=ahead,
        closed=closed,
    )
