"""Lines of the statement with the other side of each: whom it was paid to, where it came from,
what for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db.models import CharField, QuerySet

from api.downloads import Cell
from balance.api import presenters
from balance.kinds import PostingType
from common import ids
from common.engine.compiled_rows import Rows
from dashboard.bank_accounts.names import bank_name
from dashboard.shell import addresses
from dashboard.shell.badges import Badge
from funding import selectors as funding
from payments import selectors as payments

CSV_HEADER = (*presenters.CSV_HEADER, "whatFor")
_CHUNK = 1000

_POSTING_BADGES = {
    PostingType.CREDIT: Badge("Credit", "good"),
    PostingType.DEBIT: Badge("Debit", "bad"),
    PostingType.LOCK: Badge("Lock"),
    PostingType.UNLOCK: Badge("Unlock"),
    PostingType.SETTLEMENT: Badge("Settlement"),
}

# What the amount of a line cannot say: a settlement leaves the available balance as it was.
_HINTS = {
    PostingType.LOCK: "set aside",
    PostingType.UNLOCK: "released",
    PostingType.SETTLEMENT: "from locked",
}

_CAUSE_PAGES = {
    "funding_transaction": "dashboard:funding_detail",
    "payment": "dashboard:payment_detail",
}


@dataclass(frozen=True)
class OtherSide:
    """Whom a line was paid to or where it came from, and what the tenant wrote about it."""

    who: str
    what_for: str


NOBODY = OtherSide("", "")


@dataclass(frozen=True)
class TransactionLine:
    """One line of the statement. `change` is what happened to the available balance, or, for a
    settlement, to the locked one; cents. `hint` says which. `href` leads to what caused it, where
    that has a page; `who` is the other side of it, empty if there is none, and `what_for` what the
    tenant wrote about the top-up or the payment; `description` is the ledger's own."""

    id: str
    href: str
    who: str
    what_for: str
    description: str
    badge: Badge
    change: int
    hint: str
    available_after: int
    locked_after: int
    at: datetime


def lines(*, tenant_id: str, rows: Sequence[Mapping[str, Any]]) -> list[TransactionLine]:
    """`rows` of the ledger, ready to print. One query, or none if no line has another side."""
    sides = other_sides(tenant_id, {row["source_id"] for row in rows})
    return [transaction_line(row, side=sides.get(row["source_id"], NOBODY)) for row in rows]


def csv_rows(*, tenant_id: str, rows: Iterable[dict[str, Any]]) -> Iterator[list[Cell]]:
    """`rows` of the ledger as cells in the order of CSV_HEADER. One query per 1,000 rows."""
    remaining = iter(rows)
    while chunk := list(islice(remaining, _CHUNK)):
        sides = other_sides(tenant_id, {row["source_id"] for row in chunk})
        for row in chunk:
            yield [*presenters.csv_row(row), sides.get(row["source_id"], NOBODY).what_for]


def other_sides(tenant_id: str, causes: Collection[str]) -> dict[str, OtherSide]:
    """By the id of the funding or payment that caused a line. One query."""
    paid_out = [cause for cause in causes if ids.is_id(cause, "pay")]
    came_in = [cause for cause in causes if ids.is_id(cause, "ftx")]
    if not paid_out and not came_in:
        return {}
    found = _SIDES.read(tenant_id=tenant_id, paid_out=paid_out, came_in=came_in)
    return {
        cause: OtherSide(bank_name(name, last4) if last4 else name, what_for)
        for cause, name, last4, what_for in found
    }


def _sides(tenant_id: str, paid_out: list[str], came_in: list[str]) -> QuerySet[Any, Any]:
    payees = payments.other_sides(tenant_id=tenant_id, payment_ids=paid_out)
    accounts = funding.other_sides(tenant_id=tenant_id, funding_ids=came_in)
    return payees.union(accounts, all=True)


_IDS = ArrayField(CharField())
_SIDES = Rows(_sides, tenant_id=CharField(), paid_out=_IDS, came_in=_IDS)


def transaction_line(row: Mapping[str, Any], *, side: OtherSide = NOBODY) -> TransactionLine:
    kind = PostingType(row["type"])
    return TransactionLine(
        id=row["id"],
        href=cause_page(row["source_type"], row["source_id"]),
        who=side.who,
        what_for=side.what_for,
        description=row["description"] or kind.label,
        badge=_POSTING_BADGES[kind],
        change=row["available_delta"] or row["locked_delta"],
        hint=_HINTS.get(kind, ""),
        available_after=row["available_after"],
        locked_after=row["locked_after"],
        at=row["created_at"],
    )


def cause_page(source_type: str, source_id: str) -> str:
    """The address of what caused a line; empty where that has no page."""
    view = _CAUSE_PAGES.get(source_type)
    return addresses.of_row(view, source_id) if view else ""
