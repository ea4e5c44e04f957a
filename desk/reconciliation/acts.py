"""What people do about suspense, lines in transit and days, each with its line in the audit log."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime

from django.db import transaction

from common.engine.wakeups import enqueue_on_commit
from desk import doers
from desk.doers import Doer
from reconciliation import booking, by_hand, clearing, closing, notes
from reconciliation.models import (
    BookedLine,
    Clearing,
    ClearingKind,
    ClosedDay,
    Match,
    StatementLine,
    TransitNote,
)

MATCHES = "reconciliation.match_statementline"
PROPOSES = "reconciliation.propose_clearing"
APPROVES = "reconciliation.approve_clearing"
CLOSES = "reconciliation.close_day"
EXPLAINS = "reconciliation.explain_intransit"


@transaction.atomic
def match(
    *,
    line: StatementLine,
    also: Collection[int],
    books: Collection[int],
    reason: str,
    doer: Doer,
    now: datetime,
) -> Match:
    """Match a line of a statement, and others of it (`also`), with lines of the books. Raises
    MatchRefused."""
    made = by_hand.match(
        [line.pk, *also],
        books,
        rail=line.statement.account.rail_id,
        day=line.statement.last_day,
        reason=reason,
        by=doer.name,
        now=now,
    )
    _record_match("matched", made, doer, now, made.reason)
    return made


@transaction.atomic
def unmatch(*, match: Match, reason: str, doer: Doer, now: datetime) -> Match:
    """Set the lines of a match free again. Raises MatchRefused."""
    unmatched = by_hand.unmatch(match.pk, reason=reason, by=doer.name, now=now)
    _record_match("unmatched", unmatched, doer, now, unmatched.voided_why)
    return unmatched


@transaction.atomic
def book_line(*, line: StatementLine, reason: str, doer: Doer, now: datetime) -> BookedLine:
    """Book a line that waits to suspense. Raises BookingRefused."""
    booked = booking.to_suspense(line, by=doer.name, reason=reason, now=now)
    doers.record(
        doer,
        "statement_line.booked",
        booked.pk,
        now=now,
        note=booked.reason,
        amount=booked.amount,
    )
    return booked


@transaction.atomic
def propose_clearing(
    *,
    booked: BookedLine,
    kind: ClearingKind,
    reason: str,
    doer: Doer,
    now: datetime,
    other: BookedLine | None = None,
    adjustment_id: str = "",
    expected_line: int | None = None,
) -> Clearing:
    """Say what a line in suspense was. Raises ClearingRefused."""
    proposed = clearing.propose(
        booked,
        kind,
        reason=reason,
        by=doer.name,
        now=now,
        other=other,
        adjustment_id=adjustment_id,
        expected_line=expected_line,
    )
    _record_clearing("proposed", proposed, doer, now, proposed.reason)
    return proposed


@transaction.atomic
def approve_clearing(*, proposal: Clearing, doer: Doer, now: datetime) -> Clearing:
    """Raises ClearingRefused, NotASecondPerson, ProposerLeft."""
    approved = clearing.approve(proposal.pk, by=doer.name, now=now)
    doers.require_second(doer, APPROVES, approved, proposes=PROPOSES)
    _record_clearing("approved", approved, doer, now)
    return approved


@transaction.atomic
def reject_clearing(*, proposal: Clearing, refusal: str, doer: Doer, now: datetime) -> Clearing:
    """Raises ClearingRefused."""
    rejected = clearing.reject(proposal.pk, refusal=refusal, by=doer.name, now=now)
    _record_clearing("rejected", rejected, doer, now, rejected.refusal)
    return rejected


@transaction.atomic
def explain(*, line: int, until: date, reason: str, doer: Doer, now: datetime) -> TransitNote:
    """Write why a line is long in transit. Raises NoteRefused."""
    note = notes.write(line, until=until, reason=reason, by=doer.name, now=now)
    doers.record(
        doer,
        "transit.explained",
        note.pk,
        now=now,
        note=note.reason,
        line=line,
        until=until.isoformat(),
    )
    return note


@transaction.atomic
def close_day(*, rail: str, doer: Doer, now: datetime, only: date | None = None) -> ClosedDay:
    """Close the day of the next statement, if it is the one that somebody looked at. Raises
    CloseRefused."""
    day = closing.close(rail, now=now, by=doer.name, only=only)
    doers.record(
        doer,
        "day.closed",
        day.pk,
        now=now,
        rail=rail,
        day=day.day.isoformat(),
        ledger=day.ledger,
        bank=day.bank,
    )
    enqueue_on_commit("reconciliation.close_days")  # the days after it, and their proof
    return day


def _record_clearing(what: str, row: Clearing, doer: Doer, now: datetime, note: str = "") -> None:
    doers.record(
        doer,
        f"clearing.{what}",
        row.pk,
        now=now,
        note=note,
        kind=str(row.kind),
        amount=row.booked.amount,
        line=row.booked_id,
    )


def _record_match(what: str, row: Match, doer: Doer, now: datetime, note: str) -> None:
    doers.record(
        doer,
        f"statement_line.{what}",
        row.pk,
        now=now,
        note=note,
        rail=row.rail_id,
        day=row.day.isoformat(),
        amount=row.amount,
    )
