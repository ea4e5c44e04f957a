"""Closes the days of a settlement account, one after the other, at a difference of zero.

A closed day is never opened again (decision 0216). The account is row-locked meanwhile, so that no
line of the rail is taken, matched or cleared: the figures are of one moment. Postings go on; what
they write is taken later, and counts on an open day.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Protocol

import structlog
from django.db import connection, transaction
from django.db.models import Count, Max, Q

from balance.operator.accounts import Step
from common.database.job_doors import by as by_job
from common.database.jobs import WORKER
from common.money import format_cents, signed_cents
from networks import calendar
from reconciliation import accounts, due, expecting, failing, figures, repeats, unmatched
from reconciliation.errors import CloseRefused
from reconciliation.failing import Sweep
from reconciliation.figures import AHEAD, IN_TRANSIT, Figures, Sums
from reconciliation.models import (
    BankStatement,
    ClosedDay,
    ExpectedLine,
    Match,
    SettlementAccount,
)

log = structlog.get_logger(__name__)

_LINES_NAMED = 10
_LINES_COMPARED = 50  # of those that nothing explains

_KEEP_IN_TRANSIT = f"""
INSERT INTO reconciliation_intransit (day_id, line, amount)
SELECT %(day_id)s, line, amount FROM ({IN_TRANSIT}) AS open
UNION ALL
SELECT %(day_id)s, line, -amount FROM ({AHEAD}) AS early
"""  # noqa: S608  # our own text


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of a rail: the days that closed, and why the next one did not.

    `open_day` is the first day that stays open though its statement is here or its time is over;
    None if there is none. `reasons` say in sentences what to do about it; `is_late` that it should
    be done by now.
    """

    rail: str
    closed: tuple[ClosedDay, ...]
    open_day: date | None
    reasons: tuple[str, ...]
    is_late: bool


class Close(Protocol):
    """What closes the day of a rail's next statement, or raises CloseRefused."""

    def __call__(self, *, rail: str, now: datetime) -> ClosedDay: ...


@transaction.atomic
def close(rail: str, *, now: datetime, by: str = "", only: date | None = None) -> ClosedDay:
    """Close the day of the next statement. Without `by` it closes by itself.

    `only` is the day that somebody looked at: no other one is closed. Raises CloseRefused with
    everything that is in the way.
    """
    account = accounts.lock(rail)
    if account is None:
        raise CloseRefused([f"The rail {rail} has no settlement account: put one in force."])
    statement = next_statement(account)
    if only is not None and (statement is None or statement.last_day != only):
        raise CloseRefused([_not_next(rail, only, statement)])
    if statement is None:
        raise CloseRefused([_missing(account)])
    expecting.take(rail, now=now)
    found = figures.now_of(account, statement.last_day)
    if reasons := tuple(obstacles(account, found)):
        raise CloseRefused(reasons)
    day = _keep(account, statement, found, now, by)
    log.info("day_closed", rail=rail, day=day.day.isoformat(), by=by or "itself")
    return day


@by_job(WORKER)
def close_due(*, now: datetime) -> list[Outcome]:
    """Close every day of every rail that can be closed. A rail that fails holds up no other one."""
    outcomes = []
    for account in accounts.in_force():
        with failing.noted(Sweep.CLOSING, account.rail_id, now=now):
            outcome = close_all(account.rail_id, now=now)
            if outcome.is_late:
                log.warning("day_stays_open", rail=outcome.rail, day=str(outcome.open_day))
            outcomes.append(outcome)
    return outcomes


def close_all(rail: str, *, now: datetime, close_one: Close | None = None) -> Outcome:
    """Close the days of a rail until one stays open. Raises CloseRefused if it has no account.

    `close_one` is `close` as somebody does it who writes more down about it.
    """
    closed: list[ClosedDay] = []
    while True:
        try:
            closed.append((close_one or close)(rail=rail, now=now))
        except CloseRefused as refusal:
            return _outcome(rail, closed, refusal, now)


def _outcome(rail: str, closed: list[ClosedDay], refusal: CloseRefused, now: datetime) -> Outcome:
    account = accounts.current(rail)
    if account is None:
        raise refusal
    statement = next_statement(account)
    late = due.late_days(account, now=now)
    day = statement.last_day if statement else next(iter(late), None)
    reasons = refusal.reasons if day else ()
    return Outcome(
        rail=rail, closed=tuple(closed), open_day=day, reasons=reasons, is_late=bool(late)
    )


def next_statement(account: SettlementAccount) -> BankStatement | None:
    """Of the day that closes next; None while it is not here."""
    return account.statements.filter(closed_day=None).order_by("last_day").first()


def _not_next(rail: str, day: date, statement: BankStatement | None) -> str:
    """Why a day is not the one that closes next."""
    if ClosedDay.objects.filter(rail=rail, day=day).exists():
        return f"{_named(day)} is closed already."
    return f"{_named(statement.last_day)} closes first." if statement else "No day can be closed."


def _missing(account: SettlementAccount) -> str:
    day = figures.base_of(account).day
    return (
        f"There is no statement of the account ··{account.last4} after {_named(day)} yet: ask the"
        " bank for it, or upload it."
    )


def obstacles(account: SettlementAccount, found: Figures) -> Iterator[str]:
    """Why a day cannot be closed, in words."""
    if found.unmatched.lines:
        yield (
            f"Nothing explains {_count(found.unmatched)} of the bank up to {_named(found.day)}"
            f" ({_cents(found.unmatched)}): match each by hand, or book it to suspense."
        )
        oldest = unmatched.lines(account, up_to=found.day).values_list("pk", flat=True)
        yield from repeats.sentences(oldest[:_LINES_COMPARED])[:_LINES_NAMED]
    if found.overdue.lines:
        lines = figures.overdue_lines(account, found.day, most=_LINES_NAMED)
        named = "; ".join(
            f"line {each.line}, {Step(each.step).label.lower()}, {signed_cents(each.amount)},"
            f" {_named(each.counts_on)}"
            for each in lines
        )
        more = found.overdue.lines - len(lines)
        yield (
            f"For more than {figures.LONG_AFTER} banking days no statement shows"
            f" {_count(found.overdue)} of the books: {named}"
            f"{f'; and {more:,} more' if more else ''}."
            " Match each of them, or write a note that says why it takes longer."
        )
    if found.difference and not found.unmatched.lines:
        yield (
            f"The books and the bank differ by {signed_cents(found.difference)}, and no line"
            " explains it: run check_ledger."
        )


def _keep(
    account: SettlementAccount, statement: BankStatement, found: Figures, now: datetime, by: str
) -> ClosedDay:
    base = figures.base_of(account)
    rail, window = account.rail_id, (base.day + calendar.ONE_DAY, found.day)
    matches = Match.objects.filter(rail=rail, day__range=window).aggregate(
        live=Count("pk", filter=Q(voided_at=None)), made=Max("made_at"), voided=Max("voided_at")
    )
    counted = ExpectedLine.objects.filter(rail=rail, counts_on__range=window).aggregate(
        lines=Count("pk"), taken=Max("taken_at")
    )
    # Whoever had the lock before may have read the clock later.
    moments = (now, matches["made"], matches["voided"], counted["taken"])
    day = ClosedDay.objects.create(
        rail_id=rail,
        statement=statement,
        follows=ClosedDay.objects.filter(rail=rail).order_by("-day").first(),
        day=found.day,
        ledger=found.ledger,
        bank=statement.closing,
        in_transit=found.explained,
        in_transit_lines=sum(s.lines for s in found.in_transit.values()) + found.ahead.lines,
        matches=matches["live"],
        expected_lines=counted["lines"],
        closed_at=max(filter(None, moments)),
        closed_by=by,
    )
    values: dict[str, Any] = {
        "day_id": day.pk,
        "rail": rail,
        "opened_on": account.opened_on,
        "day": found.day,
    }
    with connection.cursor() as cursor:
        cursor.execute(_KEEP_IN_TRANSIT, values)
    return day


def _count(sums: Sums) -> str:
    return "1 line" if sums.lines == 1 else f"{sums.lines:,} lines"


def _cents(sums: Sums) -> str:
    return f"{format_cents(sums.credits)} in, {format_cents(sums.debits)} out"


def _named(day: date) -> str:
    return f"{day:%B %-d, %Y}"
