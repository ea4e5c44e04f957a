"""What reading a bank statement yields, the same for every format."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from networks.bank_statements.faults import Fault, Scope

REFERENCE_LENGTH_MAX = 76  # a longer one is a fault
CODE_LENGTH_MAX = 40  # of a type code or a return code; a longer one is a fault
TEXT_LENGTH_MAX = 1_000  # what a text has more is cut off


class Purpose(StrEnum):
    """What a statement is for. Only `STATEMENT` closes a day; its sums are proven."""

    STATEMENT = "statement"  # camt.053; BAI2 marked as final
    REPORT = "report"  # camt.052; BAI2 marked as interim: what happened so far
    NOTIFICATION = "notification"  # camt.054: single credits and debits


class LineKind(StrEnum):
    """What a line is by its type code. Its amount says whether money came or went."""

    CREDIT = "credit"
    DEBIT = "debit"
    BATCH = "batch"  # several entries posted as one sum
    RETURN = "return"  # an entry that came back
    REVERSAL = "reversal"  # the bank or the sender takes an entry back
    FEE = "fee"  # of the bank, or one that it gives back
    INTEREST = "interest"
    UNKNOWN = "unknown"  # the code is none that we know: kept, and noted


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Whose statement it is. `bank` is a routing number, a BIC or the bank's own name for
    itself."""

    number: str
    bank: str


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """By what a line can be found again; empty where the bank says nothing.

    `bank` is the bank's own, `customer` is BAI2's customer reference: what it holds, the bank
    decides. The others are camt's: `file` the message that ordered the entry, `batch` the group of
    payments in it, `trace` the clearing's number.
    """

    bank: str = ""
    customer: str = ""
    file: str = ""
    batch: str = ""
    instruction: str = ""
    end_to_end: str = ""
    transaction: str = ""
    trace: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """One of the payments that a line adds up. `amount` is in cents, negative where money left, and
    None where the bank gives none. `party` is the name of the other side."""

    amount: int | None
    references: References
    party: str
    text: str
    return_code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One entry of a statement.

    `id` follows from what the line says and never from where it stands: the same entry has the same
    id in every file of the format (`identity`). `statement` counts the file's statements from 1.
    `position` is the record of BAI2 or the entry of camt, counted from 1 in the file. `amount` is
    in cents, negative where money left the account. `type_code` is the bank's: three digits of
    BAI2, or the domain, family and sub-family of ISO 20022 (`PMNT/RDDT/PMDD`). `details` are the
    payments in it where the bank names several; what it says of a single one stands in the line
    itself.
    """

    id: str
    statement: int
    position: int
    amount: int
    booked_date: date
    value_date: date | None
    kind: LineKind
    type_code: str
    is_booked: bool
    is_reversal: bool
    references: References
    party: str
    text: str
    return_code: str
    details: tuple[Detail, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A statement without its lines, which follow it. Balances are cents of booked funds; in a
    report or notification they may be missing.

    `number` counts the file's statements from 1. `file_id` and `id` are the bank's names for file
    and statement. `sequence` and `legal_sequence` count the account's statements where the bank
    numbers them. `to_date` is the day that the statement closes, `from_date` its first if it says
    so.
    """

    number: int
    position: int
    format: str
    purpose: Purpose
    account: Account
    currency: str
    file_id: str
    id: str
    sequence: int | None
    legal_sequence: int | None
    from_date: date | None
    to_date: date
    opening: int | None
    closing: int | None


Event = Heading | Line | Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class BankStatement:
    """A statement with all its lines. `is_usable`: no fault sets it or its file aside."""

    heading: Heading
    lines: tuple[Line, ...]
    faults: tuple[Fault, ...]

    @property
    def is_usable(self) -> bool:
        return all(fault.scope is Scope.NOTE for fault in self.faults)
