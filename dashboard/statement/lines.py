"""Lines of the statement with the other side of each: whom it was paid to, where it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import reverse

from balance.kinds import PostingType
from common import ids
from dashboard.bank_accounts.names import bank_name
from dashboard.shell.badges import Badge
from funding import selectors as funding
from payments import selectors as payments

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
class TransactionLine:
    """One line of the statement. `change` is what happened to the available balance, or, for a
    settlement, to the locked one; cents. `hint` says which. `href` leads to what caused it, where
    that has a page; `who` is the other side of it, empty if there is none."""

    id: str
    href: str
    who: str
    description: str
    badge: Badge
    change: int
    hint: str
    available_after: int
    locked_after: int
    at: datetime


def lines(*, tenant_id: str, rows: Sequence[Mapping[str, Any]]) -> list[TransactionLine]:
    """`rows` of the ledger, ready to print. One query, or none if no line has another side."""
    names = _names(tenant_id, {row["source_id"] for row in rows})
    return [transaction_line(row, who=names.get(row["source_id"], "")) for row in rows]


def _names(tenant_id: str, causes: set[str]) -> dict[str, str]:
    paid_out = [cause for cause in causes if ids.is_id(cause, "pay")]
    came_in = [cause for cause in causes if ids.is_id(cause, "ftx")]
    payees = payments.payee_names(tenant_id=tenant_id, payment_ids=paid_out)
    accounts = funding.account_names(tenant_id=tenant_id, funding_ids=came_in)
    found = payees.union(accounts, all=True)
    return {cause: bank_name(name, last4) if last4 else name for cause, name, last4 in found}


def transaction_line(row: Mapping[str, Any], *, who: str = "") -> TransactionLine:
    kind = PostingType(row["type"])
    return TransactionLine(
        id=row["id"],
        href=_cause(row["source_type"], row["source_id"]),
        who=who,
        description=row["description"] or kind.label,
        badge=_POSTING_BADGES[kind],
        change=row["available_delta"] or row["locked_delta"],
        hint=_HINTS.get(kind, ""),
        available_after=row["available_after"],
        locked_after=row["locked_after"],
        at=row["created_at"],
    )


def _cause(source_type: str, source_id: str) -> str:
    view = _CAUSE_PAGES.get(source_type)
    return reverse(view, args=(source_id,)) if view else ""
