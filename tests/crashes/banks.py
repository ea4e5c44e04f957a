"""Banks for one try of an action: one that sends back, and one that takes files.

Their days are around today.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from common import ids
from common.clock import utc_now
from funding.models import FundingTransaction
from networks import calendar, registry
from networks.ach import building, freezing
from networks.ach.inbound import reading, storing
from networks.ach.models import AchEntry, InFile, InRecord, OutFile
from networks.ach.models.inbound import InFolder
from networks.ach.network import AchNetwork
from networks.ach.sending import send_next
from networks.ach.states import FileStatus
from networks.sandbox.bank import SandboxBank
from reconciliation import booking, expecting
from reconciliation.models import BankStatement, BookedAs, BookedLine, ExpectedLine, StatementLine
from reconciliation.reading import read_due as read_statements
from tests.networks.ach import builders as outbound
from tests.networks.ach import life
from tests.networks.ach.folder import Folder
from tests.networks.ach.inbound import builders as inbound
from tests.networks.ach.inbound.builders import (
    answer_batch,
    answer_file,
    change_batch,
    changed,
    returned,
)
from tests.reconciliation import banking, statements, transfers
from tests.reconciliation.banking import Posted

_number = itertools.count(1)


def today() -> date:
    """Today, or the last banking day before it."""
    day = utc_now().astimezone(calendar.EASTERN).date()
    while not calendar.is_banking_day(day):
        day -= timedelta(days=1)
    return day


def banking_days_ago(count: int) -> date:
    day = today()
    while count:
        day -= timedelta(days=1)
        count -= calendar.is_banking_day(day)
    return day


# --- A bank that sends back


class Returning:
    """A bank with a batch of entries that settled."""

    def __init__(self, **terms: Any) -> None:
        self.rail = inbound.make_rail(f"bank{next(_number)}", **terms)
        self.batch = inbound.make_batch(self.rail, status=FileStatus.ACKNOWLEDGED)

    def entry(self, *, days_ago: int = 1, **columns: Any) -> AchEntry:
        settled = banking_days_ago(days_ago)
        entry: AchEntry = inbound.make_entry(
            self.batch,
            next(_number),
            instruction_id=ids.new("ftx"),
            settled=settled,
            effective_date=settled,
            final_due_at=calendar.opening_of_business(calendar.return_due_date(settled)),
            **columns,
        )
        return entry

    def said(self, *records: Any, change: bool = False) -> InRecord:
        """What it says about an entry, applied as far as nobody has to be asked."""
        batch = change_batch if change else answer_batch
        lines = answer_file(batch(*records, settlement=f"{today():%j}"), day=f"{today():%y%m%d}")
        file = inbound.take(lines, rail=self.rail.pk, now=utc_now())
        return InRecord.objects.get(file=file)


def short_return() -> InRecord:
    """Which is a cent less than the entry: a person decides."""
    bank = Returning()
    return bank.said(*returned(bank.entry(), amount=149_99))


def late_return() -> InRecord:
    """Which was applied, and may be dishonored."""
    bank = Returning()
    record = bank.said(*returned(bank.entry(days_ago=4, status="final"), "R02"))
    assert record.may_dishonor
    return record


def change() -> InRecord:
    """Which waits for a person, because the rail says so."""
    bank = Returning(apply_changes=False)
    return bank.said(*changed(bank.entry()), change=True)


def statement(*, opening: int = statements.OPENING) -> InFile:
    """A bank statement that waits, of an account that begins with `statements.OPENING` cents."""
    rail = inbound.make_rail(f"bank{next(_number)}")
    statements.in_force(rail=rail.pk)
    file: InFile = statements.store(bank_said(opening), rail=rail.pk)
    return file


def closable() -> str:
    """A rail whose statement of today has nothing left to explain."""
    rail: str = inbound.make_rail(f"bank{next(_number)}").pk
    day = today()
    statements.in_force(rail=rail, opened_on=day)
    statements.store(statements.of_kinds(day, ("fee", -250), ("credit", 900)), rail=rail)
    read_statements(now=utc_now())
    assert booking.book_open(rail, None, now=utc_now()) == 2
    return rail


def two_closable() -> tuple[str, str]:
    """A rail with two days that can be closed, and the first of them."""
    rail: str = inbound.make_rail(f"bank{next(_number)}").pk
    first = calendar.banking_day_from(today() - timedelta(days=7))
    statements.in_force(rail=rail, opened_on=first)
    for day in (first, calendar.next_banking_day(first)):
        statements.store(statements.bai2_of(day), rail=rail, name=f"{day}.txt")
    read_statements(now=utc_now())
    assert BankStatement.objects.filter(account__rail=rail).count() == 2
    return rail, first.isoformat()


def open_day(funding: FundingTransaction, finish: Callable[[], None]) -> tuple[StatementLine, int]:
    """A line of a statement that no rule matches, and one of the books: this funding, which a bank
    completes once `finish` lets it."""
    rail = inbound.make_rail(f"bank{next(_number)}").pk
    registry.connect(SandboxBank(rail), modes=())
    FundingTransaction.objects.filter(pk=funding.pk).update(network=rail)
    finish()
    statements.in_force(rail=rail, opened_on=today())
    expecting.take(rail, now=utc_now())
    statements.store(statements.of_kinds(today(), ("batch", funding.amount)), rail=rail)
    read_statements(now=utc_now())
    shown: StatementLine = StatementLine.objects.get(statement__account__rail=rail)
    return shown, ExpectedLine.objects.get(rail=rail).line


def waiting() -> StatementLine:
    """A line of a statement that no rule matches."""
    rail = inbound.make_rail(f"bank{next(_number)}")
    statements.in_force(rail=rail.pk)
    statements.store(statements.of_kinds(statements.MONDAY, ("batch", 5_000)), rail=rail.pk)
    read_statements(now=utc_now())
    row: StatementLine = StatementLine.objects.get(statement__account__rail=rail)
    return row


def in_suspense() -> BookedLine:
    """A credit at the bank that nobody knows."""
    closable()
    return BookedLine.objects.filter(booked_as=BookedAs.SUSPENSE).latest("booked_at")


def bank_said(opening: int = statements.OPENING) -> bytes:
    """A day with two lines."""
    said: bytes = statements.bai2_of(statements.MONDAY, 5_000, -1_000, opening=opening)
    return said


def shown_lines() -> None:
    """A statement that was taken, with two credits that nobody knows."""
    rail = inbound.make_rail(f"bank{next(_number)}")
    statements.in_force(rail=rail.pk)
    content = banking.content_of(*(Posted(cents, kind="credit") for cents in (5_000, 70)))
    statements.store(content, rail=rail.pk)
    read_statements(now=utc_now())
    assert len(transfers.bank_lines(rail=rail.pk)) == 2


def odd_statement() -> InFile:
    """One that was set aside."""
    file = statement(opening=1)
    read_statements(now=utc_now())
    file.refresh_from_db()
    assert file.status == "review"
    return file


def set_aside() -> InFile:
    """A file that nobody can read."""
    bank = Returning()
    stored = storing.store(
        rail_id=bank.rail.pk,
        folder=InFolder.INBOUND,
        name="odd.ach",
        content=[b"not a file of a bank"],
        now=utc_now(),
    )
    reading.read_due(now=utc_now())
    file = InFile.objects.get(pk=stored.file.pk)
    assert file.status == "review"
    return file


# --- A bank that takes files


def freeze_at() -> datetime:
    """A moment of the next banking day."""
    day = calendar.next_banking_day(utc_now().astimezone(calendar.EASTERN).date())
    return datetime.combine(day, time(13, 45), tzinfo=calendar.EASTERN)


def new_name() -> str:
    """Of a rail, as no other one has it."""
    return f"bank{next(_number)}"


def make_bank() -> str:
    number = next(_number)
    name = f"bank{number}"
    outbound.make_rail(name, immediate_origin=f"9{number:09d}")
    outbound.make_originator(name)
    return name


def a_file(*, has_faults: bool = False) -> OutFile:
    """Of two debits, built by a worker: it may be released."""
    bank = make_bank()
    entries = [outbound.instruction() for _ in range(2)]
    AchNetwork(bank).submit_many(entries, now=freeze_at() - timedelta(hours=1))
    (file_id,) = freezing.freeze_due(bank, now=freeze_at())
    if has_faults:
        AchEntry.objects.filter(rail=bank).update(account_token="of another key")
    assert building.build(file_id, now=freeze_at())
    file = OutFile.objects.get(pk=file_id)
    assert file.status == ("held" if has_faults else "built")
    return file


def a_sent_file() -> OutFile:
    """Of which the bank has said nothing."""
    file = a_file()
    life.release(file, utc_now())
    with TemporaryDirectory() as place:
        assert send_next(file.rail_id, Folder(Path(place)), now=freeze_at()) == file.pk
    return file
