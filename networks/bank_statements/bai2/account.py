"""One account of a BAI2 file: its balances, its transactions, and whether they add up."""

from __future__ import annotations

from collections.abc import Iterator

from networks.bank_statements import items
from networks.bank_statements.amounts import CURRENCY, BadAmount
from networks.bank_statements.bai2 import records, type_codes
from networks.bank_statements.bai2.fields import BadField
from networks.bank_statements.bai2.framing import Record
from networks.bank_statements.faults import Fault, differs
from networks.bank_statements.identity import Draft
from networks.bank_statements.items import (
    REFERENCE_LENGTH_MAX,
    TEXT_LENGTH_MAX,
    Event,
    Heading,
    Purpose,
    References,
)
from networks.bank_statements.judging import Stated
from networks.bank_statements.statements import OpenStatement, Statements

FORMAT = "BAI2"
_UPDATE = "1"  # the group's status: what is new, and in force
_FINAL = frozenset("24")  # as-of-date modifiers: of the previous day, of the same day
_INTERIM = frozenset("13")
_JUDGED = frozenset(
    (
        type_codes.OPENING_LEDGER,
        type_codes.CLOSING_LEDGER,
        type_codes.TOTAL_CREDITS,
        type_codes.TOTAL_DEBITS,
    )
)


class Account:
    """The records from 03 to 49. `total` is the sum of every amount in them and `records` how many
    physical ones there are; both say nothing once it `is_unread`: an amount could not be read."""

    def __init__(
        self,
        statements: Statements,
        file: records.FileHeader,
        group: records.GroupHeader,
        record: Record,
    ) -> None:
        self.total = 0
        self.records = record.size
        self.is_unread = False
        self._file = file
        self._group = group
        self._record = record
        self._header = records.account_header(record)
        self._statement = OpenStatement(statements)
        self._summaries: dict[str, records.Summary] = {}

    def begin(self) -> Iterator[Event]:
        """The heading, behind what is wrong with it."""
        yield from self._read_summaries()
        faults = [self._fault(code) for code in self._wrong()]
        yield from faults
        if not faults and not self._statement.doubtful and self._group.as_of_date:
            yield from self._statement.begin(self._heading())

    def transaction(self, record: Record) -> Iterator[Event]:
        """The line that a transaction is, behind what is wrong with it."""
        self.records += record.size
        try:
            found = records.transaction(record)
        except (BadField, BadAmount) as bad:
            self.is_unread = True
            yield self._statement.fault(bad.code, position=record.position)
            return
        if found.amount is None:
            return
        self.total += found.amount
        if self._statement.heading:
            yield from self._line(record.position, found, found.amount)

    def end(self, record: Record, trailer: records.Trailer) -> Iterator[Fault]:
        """What does not add up."""
        self.records += record.size
        if self.is_unread:
            return
        where = {"position": record.position, "statement": self._statement.number}
        if trailer.control_total != self.total:
            yield differs(
                "account_total_wrong", said=trailer.control_total, found=self.total, **where
            )
        if trailer.records != self.records:
            yield differs(
                "account_records_wrong", said=trailer.records, found=self.records, **where
            )
        yield from self._statement.end(self._stated(), position=record.position)

    def _read_summaries(self) -> Iterator[Fault]:
        try:
            for summary in records.summaries(self._header):
                self.total += summary.amount or 0
                former = self._summaries.setdefault(summary.type_code, summary)
                if former.amount != summary.amount and summary.type_code in _JUDGED:
                    yield self._fault("balance_repeated")
        except (BadField, BadAmount) as bad:
            self.is_unread = True
            yield self._fault(bad.code)

    def _wrong(self) -> Iterator[str]:
        """What keeps the heading from being used."""
        if not self._header.number:
            yield "account_missing"
        if self._group.as_of_date is None:
            yield "date_invalid"
        if self._group.status != _UPDATE:
            yield "group_status_unsupported"
        if self._currency() != CURRENCY:
            yield "currency_unsupported"

    def _currency(self) -> str:
        return (self._header.currency or self._group.currency or CURRENCY).upper()

    def _heading(self) -> Heading:
        day = self._group.as_of_date
        if day is None:
            raise ValueError("a group without a date has no headings")
        file = self._file
        return Heading(
            number=self._statement.number,
            position=self._record.position,
            format=FORMAT,
            purpose=self._purpose(),
            account=items.Account(number=self._header.number, bank=self._group.originator),
            currency=CURRENCY,
            file_id=f"{file.sender}-{file.creation_date:%Y%m%d}-{file.file_number}",
            id=f"{day:%Y%m%d}",
            sequence=None,
            legal_sequence=None,
            from_date=None,
            to_date=day,
            opening=self._amount(type_codes.OPENING_LEDGER),
            closing=self._amount(type_codes.CLOSING_LEDGER),
        )

    def _purpose(self) -> Purpose:
        """What the group's modifier says; without one, a closing balance makes it final."""
        modifier = self._group.as_of_date_modifier
        if modifier in _FINAL:
            return Purpose.STATEMENT
        if modifier in _INTERIM or type_codes.CLOSING_LEDGER not in self._summaries:
            return Purpose.REPORT
        return Purpose.STATEMENT

    def _line(self, position: int, found: records.Transaction, amount: int) -> Iterator[Event]:
        sign = type_codes.sign(found.type_code)
        for code in self._wrong_line(found, sign):
            yield self._statement.fault(code, position=position)
        if sign is None or amount < 0 or self._group.as_of_date is None:
            return
        yield from self._statement.line(
            Draft(
                position=position,
                amount=sign * amount,
                booked_date=self._group.as_of_date,
                value_date=found.funds.value_date,
                kind=type_codes.kind(found.type_code),
                type_code=found.type_code,
                is_booked=True,
                is_reversal=False,
                references=References(
                    bank=found.bank_reference[:REFERENCE_LENGTH_MAX],
                    customer=found.customer_reference[:REFERENCE_LENGTH_MAX],
                ),
                party="",
                text=found.text[:TEXT_LENGTH_MAX],
                return_code="",
                details=(),
            )
        )

    def _wrong_line(self, found: records.Transaction, sign: int | None) -> Iterator[str]:
        if sign is None:
            yield "type_code_no_direction"
        elif not type_codes.is_known(found.type_code):
            yield "type_code_unknown"
        elif type_codes.is_total(found.type_code):
            yield "type_code_summary"
        if found.amount is not None and found.amount < 0:
            yield "amount_negative"
        if max(len(found.bank_reference), len(found.customer_reference)) > REFERENCE_LENGTH_MAX:
            yield "reference_long"
        if len(found.text) > TEXT_LENGTH_MAX:
            yield "text_cut"
        if found.funds.differs:
            yield "availability_differs"

    def _stated(self) -> Stated:
        credits = self._summaries.get(type_codes.TOTAL_CREDITS)
        debits = self._summaries.get(type_codes.TOTAL_DEBITS)
        return Stated(
            credits=credits.amount if credits else None,
            credit_count=credits.item_count if credits else None,
            debits=debits.amount if debits else None,
            debit_count=debits.item_count if debits else None,
        )

    def _amount(self, type_code: str) -> int | None:
        summary = self._summaries.get(type_code)
        return summary.amount if summary else None

    def _fault(self, code: str) -> Fault:
        return self._statement.fault(code, position=self._record.position)
