"""Takes a file of bank statements: all of it in one transaction, or nothing.

The file is read once for its faults and sums, and once more for its lines. Between the two the
accounts are row-locked, so that statements of one account are judged one after the other. A file
that is not taken lies in review with its faults and wrote nothing else. One that came too early is
read anew as soon as a statement of its rail was taken; nobody has to remember it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from itertools import islice

import structlog
from django.db import transaction

from common import crypto, days
from networks.ach import bank_clock, long_work
from networks.ach.inbound import storing
from networks.ach.models import InFile
from networks.ach.states import IN_FILE_STATES, InFileStatus
from networks.bank_statements.faults import Fault, Scope
from networks.bank_statements.items import Heading, Line, Purpose
from networks.bank_statements.reading import read
from reconciliation import accounts, anew, judging, repeats, surveying
from reconciliation.judging import Said, Standing
from reconciliation.models import BankStatement, SettlementAccount, StatementLine
from reconciliation.surveying import Survey, Tally

log = structlog.get_logger(__name__)

_LINES_TOGETHER = 2_000


def take(file: InFile, *, now: datetime) -> None:
    """Read a stored file of statements, which is `applied` then, or lies in `review`. To do it
    again does no harm.

    The lease ends with it. Raises common.crypto.Undecryptable, and IllegalTransition if another
    worker was faster.
    """
    clock = long_work.clock_from(now)
    found = surveying.survey(read(storing.Reader(file)))
    with transaction.atomic():
        taken = _take(file, found, clock())
    codes = [fault["code"] for fault in found.faults]
    log.info("bank_statements_read", file_id=file.pk, status=file.status, faults=codes[:5])
    if taken:
        log.info("bank_statements_taken", file_id=file.pk, statements=len(taken))


def _take(file: InFile, found: Survey, now: datetime) -> Sequence[BankStatement]:
    if not found.statements and not found.set_aside:
        found.add(Fault(0, 0, "no_statement", judging.ASIDE["no_statement"], Scope.FILE))
    if found.set_aside:
        _end(file, InFileStatus.REVIEW, found, now)
        return ()
    numbers = {sums.heading.account.number for sums in _final(found)}
    chain = _Chain(accounts.of_numbers(file.rail_id, numbers))
    rows = [row for sums in _final(found) if (row := chain.next(file, sums, found, now))]
    if found.set_aside:
        _end(file, InFileStatus.REVIEW, found, now)
        return ()
    for row in rows:
        row.save(force_insert=True)
    _write_lines(file, rows, now)
    _end(file, InFileStatus.APPLIED, found, now)
    if rows:
        anew.read_anew(file.rail_id, judging.GAP, now=now)
    return rows


def _final(found: Survey) -> list[Tally]:
    """The statements that close a day, the earliest first. The others are noted once."""
    every = [sums for _, sums in sorted(found.statements.items())]
    final = [sums for sums in every if sums.heading.purpose is Purpose.STATEMENT]
    return sorted(final, key=lambda sums: sums.heading.to_date)


def _end(file: InFile, status: InFileStatus, found: Survey, now: datetime) -> None:
    for sums in found.statements.values():
        if sums.heading.purpose is not Purpose.STATEMENT:
            found.add(_fault("not_final", sums.heading))
    # The lease ends with it: a moment later somebody may want the file read anew.
    IN_FILE_STATES.advance(
        file,
        status,
        faults=found.faults,
        parsed_at=now,
        applied_at=now if status == InFileStatus.APPLIED else None,
        next_attempt_at=None,
        leased_until=None,
        lease_version=file.lease_version + 1,
    )


@dataclass
class _Chain:
    """The accounts of a file, and which statement each one's last one is, also within the file."""

    accounts: Mapping[str, SettlementAccount]

    def __post_init__(self) -> None:
        self._last: dict[str, BankStatement | None] = {}

    def next(self, file: InFile, sums: Tally, found: Survey, now: datetime) -> BankStatement | None:
        """The unsaved row of a statement that comes next in its account, or None: then it is noted
        in `found` why not."""
        heading = sums.heading
        account = self.accounts.get(heading.account.number)
        if account is None:
            found.add(_fault(judging.UNKNOWN, heading))
            return None
        if not heading.format.lower().startswith(account.format):
            found.add(_fault("format_not_read", heading))
            return None
        if account.pk not in self._last:
            self._last[account.pk] = account.statements.order_by("-last_day").first()
        last, said = self._last[account.pk], said_by(sums)
        standing = _standing(account, last, said, days.day_of(bank_clock.at_bank(now)))
        if code := judging.verdict(said, standing):
            found.add(_fault(code, heading))
            return None
        row = _row(file, account, last, sums, now)
        self._last[account.pk] = row
        return row


def _standing(
    account: SettlementAccount, last: BankStatement | None, said: Said, today: date
) -> Standing:
    if last is None:
        before = account.opened_on - judging.ONE_DAY
        return Standing(before, account.opening, account.opened_on, today, None)
    # Of a file with two statements of one day the first one is not in the database yet.
    same = account.statements.filter(last_day=said.last_day).first() or last
    return Standing(last.last_day, last.closing, account.opened_on, today, known(same))


def known(row: BankStatement) -> Said:
    """What a statement that was taken says."""
    return Said(row.first_day, row.last_day, row.opening, row.closing, row.lines_digest)


def said_by(sums: Tally) -> Said:
    """What a final statement says. It has both balances, or it would have a fault."""
    heading = sums.heading
    if heading.opening is None or heading.closing is None:
        raise ValueError("a final statement without its balances")
    first_day = heading.from_date or heading.to_date
    return Said(first_day, heading.to_date, heading.opening, heading.closing, sums.lines_digest)


def _row(
    file: InFile,
    account: SettlementAccount,
    last: BankStatement | None,
    sums: Tally,
    now: datetime,
) -> BankStatement:
    return BankStatement(
        account=account,
        file=file,
        number=sums.heading.number,
        follows=last,
        name=sums.heading.id[:80],
        credits=sums.credits,
        debits=sums.debits,
        line_count=sums.count,
        taken_at=now,
        **said_by(sums)._asdict(),
    )


def _write_lines(file: InFile, rows: Sequence[BankStatement], now: datetime) -> None:
    if not rows:
        return
    by_number = {row.number: row for row in rows}
    lines = (
        _line(by_number[event.statement], event, now)
        for event in read(storing.Reader(file))
        if isinstance(event, Line) and event.statement in by_number
    )
    while together := list(islice(lines, _LINES_TOGETHER)):
        StatementLine.objects.bulk_create(together)
    for row in rows:
        repeats.leave_to_people(row)


def _line(statement: BankStatement, line: Line, now: datetime) -> StatementLine:
    row = StatementLine(
        statement=statement,
        position=line.position,
        amount=line.amount,
        booked_on=line.booked_date,
        value_on=line.value_date,
        kind=line.kind,
        type_code=line.type_code,
        return_code=line.return_code,
        is_reversal=line.is_reversal,
        references=references(line),
        digest=line.id,
        taken_at=now,
    )
    said = {
        "party": line.party,
        "text": line.text,
        "details": [dict(_given(asdict(detail))) for detail in line.details],
    }
    if given := dict(_given(said)):
        row.said_token = crypto.encrypt(json.dumps(given), context=row.encryption_context)
    return row


def references(line: Line) -> dict[str, object]:
    """As a row keeps them."""
    return dict(_given(asdict(line.references)))


def _given(values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """What is not empty; an amount of nothing is something."""
    yield from ((name, value) for name, value in values.items() if value or value == 0)


def _fault(code: str, heading: Heading) -> Fault:
    """A fault of `judging`, at a statement."""
    is_grave = code in judging.ASIDE
    detail = judging.ASIDE[code] if is_grave else judging.LEFT[code]
    scope = Scope.STATEMENT if is_grave else Scope.NOTE
    return Fault(heading.position, heading.number, code, detail, scope)
