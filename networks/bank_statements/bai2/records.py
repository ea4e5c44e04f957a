"""The records of BAI2 with the fields that matter here, named as the specification does.

Times of day, the block size and who receives the file say nothing about money and are not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from networks.bank_statements.amounts import implied
from networks.bank_statements.bai2 import fields
from networks.bank_statements.bai2.fields import BadField, Fields
from networks.bank_statements.bai2.framing import Record

_DISTRIBUTIONS_MAX = 100
_NO_MONEY = "890"  # a text that concerns the account


class FileHeader(NamedTuple):
    """01"""

    sender: str
    creation_date: date
    file_number: str
    version: str


class GroupHeader(NamedTuple):
    """02. `as_of_date` is None where it is no date: then no account of the group can be used."""

    originator: str
    status: str
    as_of_date: date | None
    currency: str
    as_of_date_modifier: str


class Funds(NamedTuple):
    """When an amount is available. `value_date` is that of type V; `differs` is true where the
    parts of a distribution do not give the amount."""

    value_date: date | None = None
    differs: bool = False


class Summary(NamedTuple):
    """A balance or a total of an account, in cents, and of how many items. None where the bank does
    not say it."""

    type_code: str
    amount: int | None
    item_count: int | None


class AccountHeader(NamedTuple):
    """03. `summaries` are read as they are asked for: one of them may be wrong."""

    number: str
    currency: str
    fields: Fields


class Transaction(NamedTuple):
    """16. `amount` is in cents, without a sign: the type code says whether money came or went. It
    is None for information that moves no money."""

    type_code: str
    amount: int | None
    funds: Funds
    bank_reference: str
    customer_reference: str
    text: str


class Trailer(NamedTuple):
    """49, 98 and 99. `members` is how many accounts a group has, or groups a file; 0 in a 49."""

    control_total: int
    members: int
    records: int


def file_header(record: Record) -> FileHeader:
    """Raises BadField."""
    found = Fields(record.pieces)
    sender, _receiver = found.take(), found.take()
    created, _time, number = found.take(), found.take(), found.take()
    _length, _block, version = found.take(), found.take(), found.take()
    try:
        creation_date = fields.day(created)
    except BadField:
        raise BadField("file_header_invalid") from None
    return FileHeader(sender, creation_date, number, version)


def group_header(record: Record) -> GroupHeader:
    found = Fields(record.pieces)
    _receiver, originator, status = found.take(), found.take(), found.take()
    as_of, _time, currency, modifier = found.take(), found.take(), found.take(), found.take()
    try:
        as_of_date = fields.day(as_of)
    except BadField:
        as_of_date = None
    return GroupHeader(originator, status, as_of_date, currency, modifier)


def account_header(record: Record) -> AccountHeader:
    found = Fields(record.pieces)
    return AccountHeader(found.take(), found.take(), found)


def summaries(header: AccountHeader) -> Iterator[Summary]:
    """Raises BadField, and amounts.BadAmount."""
    found = header.fields
    while not found.is_over:
        code, amount, items = found.take(), found.take(), found.take()
        if not code:
            if amount or items:
                raise BadField("type_code_invalid")
            _funds(found, 0)
            continue
        _require_type_code(code)
        cents = implied(amount) if amount else None
        _funds(found, cents or 0)
        yield Summary(code, cents, fields.count(items, "account_header_invalid") if items else None)


def transaction(record: Record) -> Transaction:
    """Raises BadField, and amounts.BadAmount."""
    found = Fields(record.pieces)
    code, amount = found.take(), found.take()
    _require_type_code(code)
    cents = None if code == _NO_MONEY and not amount else implied(amount)
    funds = _funds(found, cents or 0)
    return Transaction(code, cents, funds, found.take(), found.take(), found.rest())


def account_trailer(record: Record) -> Trailer:
    """Raises BadField, and amounts.BadAmount."""
    found = Fields(record.pieces)
    return Trailer(implied(found.take()), 0, fields.count(found.take(), "trailer_invalid"))


def trailer(record: Record) -> Trailer:
    """Of a group or a file. Raises BadField, and amounts.BadAmount."""
    found = Fields(record.pieces)
    total, members, records = found.take(), found.take(), found.take()
    return Trailer(
        implied(total),
        fields.count(members, "trailer_invalid"),
        fields.count(records, "trailer_invalid"),
    )


def _require_type_code(code: str) -> None:
    if not (len(code) == 3 and code.isascii() and code.isdecimal()):
        raise BadField("type_code_invalid")


def _funds(found: Fields, amount: int) -> Funds:
    """The funds type and what follows it. Raises BadField, and amounts.BadAmount."""
    match found.take().upper():
        case "" | "0" | "1" | "2" | "Z":
            return Funds()
        case "V":
            value_date = fields.day(found.take())
            found.take()
            return Funds(value_date=value_date)
        case "S":
            parts = [found.take() for _ in range(3)]
        case "D":
            parts = _distributed(found)
        case _:
            raise BadField("funds_type_invalid")
    return Funds(differs=sum(implied(part) for part in parts if part) != amount)


def _distributed(found: Fields) -> list[str]:
    """The amounts of a distribution, whose days are not read."""
    number = fields.count(found.take(), "funds_type_invalid")
    if number > _DISTRIBUTIONS_MAX:
        raise BadField("funds_type_invalid")
    return [found.take() for _ in range(2 * number)][1::2]
