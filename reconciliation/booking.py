"""Books lines of statements that the books learn of by them: fees, and what nobody knows.

A line of the operator, what is expected of the bank, and the match of both are written in one
transaction with the row that says why. So a line of the bank that has no counterpart gets one, and
nothing stays unmatched for want of it (decision 0216).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from balance.operator.accounts import Step
from common.engine.lookups import one_of
from networks.bank_statements.items import LineKind
from reconciliation import accounts, matching, own_lines
from reconciliation.errors import BookingRefused
from reconciliation.matching import Pair, naming
from reconciliation.models import (
    BankStatement,
    BookedAs,
    BookedLine,
    MatchedLine,
    Rule,
    StatementLine,
)
from reconciliation.own_lines import OwnLine
from reconciliation.reasons import checked

log = structlog.get_logger(__name__)

SOURCE_TYPE = "booked_line"

# By kind, what happens to a line that no rule matched. Of a return, a batch or a reversal the books
# may learn by another file, so those wait for it or for a person.
BY_KIND = {
    LineKind.FEE: BookedAs.FEE,
    LineKind.CREDIT: BookedAs.SUSPENSE,
    LineKind.DEBIT: BookedAs.SUSPENSE,
    LineKind.INTEREST: BookedAs.SUSPENSE,
    LineKind.UNKNOWN: BookedAs.SUSPENSE,
}
# The step of a credit at the bank, and that of a debit.
_STEPS = {
    BookedAs.FEE: (Step.FEE_REFUNDED, Step.FEE_CHARGED),
    BookedAs.SUSPENSE: (Step.SUSPENSE_CREDITED, Step.SUSPENSE_DEBITED),
}
_LINES_TOGETHER = 500


@transaction.atomic
def to_suspense(line: StatementLine, *, by: str, reason: str, now: datetime) -> BookedLine:
    """Book a free line of a statement to suspense. What it was, a fee for one, two people say
    (`clearing`). Raises BookingRefused."""
    text = checked(reason, BookingRefused)
    rail = line.statement.account.rail_id
    accounts.lock(rail)
    if not _free(StatementLine.objects.filter(pk=line.pk)).exists():
        raise BookingRefused("The line is matched already.")
    if line.amount == 0:
        raise BookingRefused("The line moves no money, so there is nothing to book.")
    (booked,) = _book(rail, {line: BookedAs.SUSPENSE}, now=now, by=by, reason=text)
    return booked


def book_open(rail: str, statement: BankStatement | None, *, now: datetime) -> int:
    """Book what the kind of a free line says of it that names nothing of ours, once no rule has
    matched it: of one statement, or of all. Returns how many lines. To do it again does no harm."""
    silent, done = sorted(naming.silent_lines(rail)), 0
    for first in range(0, len(silent), _LINES_TOGETHER):
        done += _book_some(rail, statement, silent[first : first + _LINES_TOGETHER], now)
    if done:
        log.info("statement_lines_booked", rail=rail, lines=done)
    return done


@transaction.atomic
def _book_some(
    rail: str, statement: BankStatement | None, silent: Sequence[int], now: datetime
) -> int:
    account = accounts.lock(rail)
    if account is None:
        return 0
    rows = StatementLine.objects.filter(
        one_of("pk", silent),
        statement__account=account,
        statement__closed_day=None,
        kind__in=list(BY_KIND),
    )
    if statement is not None:
        rows = rows.filter(statement=statement)
    lines = _free(rows.exclude(amount=0)).select_related("statement").order_by("pk")
    return len(_book(rail, {line: BY_KIND[LineKind(line.kind)] for line in lines}, now=now))


def _book(
    rail: str,
    lines: Mapping[StatementLine, BookedAs],
    *,
    now: datetime,
    by: str = "",
    reason: str = "",
) -> Sequence[BookedLine]:
    booked = BookedLine.objects.bulk_create(
        BookedLine(
            line=line,
            booked_as=booked_as,
            amount=line.amount,
            booked_at=now,
            booked_by=by,
            reason=reason,
        )
        for line, booked_as in lines.items()
    )
    own = [
        OwnLine(
            _STEPS[BookedAs(row.booked_as)][row.amount < 0],
            abs(row.amount),
            row.pk,
            row.line.statement.last_day,
        )
        for row in booked
    ]
    written = own_lines.write(own, rail=rail, source_type=SOURCE_TYPE, now=now)
    pairs = [
        Pair(row.line_id, line, row.amount, row.line.statement.last_day)
        for row, line in zip(booked, written, strict=True)
    ]
    matching.tie_pairs(pairs, rail=rail, rule=Rule.BOOKED, by=by, reason=reason, now=now)
    return booked


def _free(lines: QuerySet[StatementLine]) -> QuerySet[StatementLine]:
    matched = MatchedLine.objects.filter(line=OuterRef("pk"), match__isnull=False)
    return lines.filter(~Exists(matched))
