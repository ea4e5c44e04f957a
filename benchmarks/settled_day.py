"""A day of a settlement account: a statement, and what the books expect of it. It is made inside
PostgreSQL."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from datetime import time as time_of_day
from uuid import uuid4

from benchmarks import ach_files, database
from benchmarks.ach_files import RAIL
from benchmarks.errors import CannotMeasure
from common.clock import utc_now
from networks import calendar
from networks.ach.models import InFile, Originator, OutFile
from networks.ach.models.inbound import InFolder
from networks.ach.rails import current
from networks.ach.states import InFileStatus
from reconciliation import accounts
from reconciliation.accounts import Opening
from reconciliation.models import BankStatement, SettlementAccount, StatementFormat

EACH = 10  # entries of a batch
_A_FILE = 100  # batches
_FIRST = 1_000_000_000  # behind the numbers of the lines that are booked for fees
_TABLES = (
    "ach_achrail",
    "reconciliation_expectedline",
    "reconciliation_match",
    "reconciliation_bankstatement",
    "reconciliation_settlementaccount",
)
_BATCHES = """
INSERT INTO ach_achbatch (
    file_id, batch_number, originator_id, is_offset, sec, service_class, company_name, company_id,
    description, same_day, effective_date, entry_count, entry_hash, debit_total, credit_total,
    first_trace, status, code
)
SELECT file.id, number, %(originator)s, false, 'CCD', 225, 'BALLAST', '1987654321', 'TOPUP', false,
    %(day)s, %(each)s, 1, %(each)s * 1000, 0, '124000310000001', 'accepted', ''
FROM ach_outfile AS file CROSS JOIN generate_series(1, %(batches)s) AS number
WHERE file.rail_id = %(rail)s
LIMIT %(count)s
"""
_EXPECTED = """
INSERT INTO reconciliation_expectedline (
    line, rail_id, step, amount, counts_on, batch, file, trace, reference, taken_at
)
SELECT %(first)s + row_number() OVER (), %(rail)s::text, 'in_settled', 1000, %(day)s, batch.id,
    batch.file_id, lpad(row_number() OVER ()::text, 15, '1'), '', %(now)s
FROM ach_achbatch AS batch JOIN ach_outfile AS file ON file.id = batch.file_id
CROSS JOIN generate_series(1, %(each)s)
WHERE file.rail_id = %(rail)s
"""
_RETURNED = """
INSERT INTO reconciliation_expectedline (
    line, rail_id, step, amount, counts_on, batch, file, trace, reference, taken_at
)
SELECT %(first)s + number, %(rail)s::text, 'in_returned', -1000, %(day)s, NULL, '',
    '2' || lpad(number::text, 14, '0'), '', %(now)s
FROM generate_series(1, %(count)s) AS number
"""
_QUOTING = """
INSERT INTO reconciliation_statementline (
    statement_id, position, amount, booked_on, kind, type_code, return_code, is_reversal,
    "references", digest, said_token, taken_at
)
SELECT %(statement)s, row_number() OVER (), %(each)s * 1000, %(day)s, 'batch', '166', '', false,
    jsonb_build_object('customer', to_char(file.file_date + file.file_time, 'YYMMDDHH24MI')
        || file.modifier || '-' || lpad(batch.batch_number::text, 7, '0')),
    encode(sha256(batch.id::text::bytea), 'hex'), '', %(now)s
FROM ach_achbatch AS batch JOIN ach_outfile AS file ON file.id = batch.file_id
WHERE file.rail_id = %(rail)s
"""
_NAMING = """
INSERT INTO reconciliation_statementline (
    statement_id, position, amount, booked_on, kind, type_code, return_code, is_reversal,
    "references", digest, said_token, taken_at
)
SELECT %(statement)s, %(after)s + number, %(cents)s, %(day)s, %(kind)s::text, '557', '', false,
    jsonb_build_object('customer', '2' || lpad(number::text, 14, '0')),
    encode(sha256((%(kind)s::text || number)::bytea), 'hex'), '', %(now)s
FROM generate_series(1, %(count)s) AS number
"""


@dataclass(frozen=True, kw_only=True)
class SettledDay:
    """A day that is open, with nothing matched: `lines` of its statement, and `entries` in the
    books."""

    account: SettlementAccount
    day: date
    lines: int
    entries: int


def make(lines: int) -> SettledDay:
    """The only day of the only account. Of 100 lines 97 quote a batch, two name a return and one is
    a fee. Raises CannotMeasure."""
    quoting, returns = lines * 97 // 100, lines * 2 // 100
    fees = lines - quoting - returns
    empty()
    day, now = _day(), utc_now()
    account = _open(day, now)
    _files(quoting, day, now)
    moved = quoting * EACH * 1_000 - returns * 1_000 - fees
    statement = _statement(account, lines, moved, day, now)
    values = {"rail": RAIL, "day": day, "now": now, "each": EACH, "statement": statement}
    originator = Originator.objects.get(rail=RAIL).pk
    _seed(_BATCHES, values | {"originator": originator, "batches": _A_FILE, "count": quoting})
    _seed(_EXPECTED, values | {"first": _FIRST})
    _seed(_RETURNED, values | {"first": _FIRST + quoting * EACH, "count": returns})
    _seed(_QUOTING, values)
    for kind, count, cents, place in (
        ("return", returns, -1_000, quoting),
        ("fee", fees, -1, quoting + returns),
    ):
        told = {"kind": kind, "count": count, "cents": cents, "after": place}
        _seed(_NAMING, values | told)
    database.execute("VACUUM ANALYZE reconciliation_expectedline, reconciliation_statementline")
    return SettledDay(account=account, day=day, lines=lines, entries=quoting * EACH + returns)


def empty() -> None:
    """Leave no account, statement or file."""
    database.empty(*_TABLES, and_references=True)


def _day() -> date:
    """A banking day of last week."""
    return calendar.banking_day_from(utc_now().date().replace(day=1))


def _open(day: date, now: datetime) -> SettlementAccount:
    moment = datetime.combine(day, time_of_day(9), tzinfo=UTC)
    ach_files.open_rail(moment)
    opening = Opening(
        rail=RAIL, number="4000123456", format=StatementFormat.BAI2, opened_on=day, cents=0
    )
    accounts.put_in_force(opening, reason="benchmark", by="benchmark", now=now)
    account = accounts.current(RAIL)
    if account is None:
        raise CannotMeasure("the account is not in force")
    return account


def _files(batches: int, day: date, now: datetime) -> None:
    """As many files as hold these batches, each made in a minute of its own."""
    version = current(RAIL)
    OutFile.objects.bulk_create(
        OutFile(
            rail_id=RAIL,
            version=version,
            immediate_origin="1987654321",
            file_date=day,
            file_time=time_of_day(number // 60 % 24, number % 60),
            modifier="ABCDEFGHIJ"[number // 1_440],
            cutoff_at=now,
            status="building",
            created_at=now,
        )
        for number in range(-(-batches // _A_FILE))
    )


def _statement(account: SettlementAccount, lines: int, moved: int, day: date, now: datetime) -> str:
    file = InFile.objects.create(
        rail_id=RAIL,
        folder=InFolder.STATEMENTS,
        name="benchmark.txt",
        size=1,
        sha256=uuid4().hex * 2,
        chunk_count=1,
        status=InFileStatus.APPLIED,
        received_at=now,
        applied_at=now,
    )
    row = BankStatement.objects.create(
        account=account,
        file=file,
        number=1,
        first_day=day,
        last_day=day,
        opening=0,
        credits=max(moved, 0),
        debits=max(-moved, 0),
        closing=moved,
        line_count=lines,
        lines_digest="0" * 64,
        taken_at=now,
    )
    return str(row.pk)


def _seed(statement: str, values: dict[str, object]) -> None:
    """Without triggers: what is made here follows the rules."""
    with database.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(statement, values or None)
        cursor.execute("RESET session_replication_role")
