"""Lines of the statement with the other side of each: whom it was paid to, where it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from common import ids
from dashboard.shell.context import TransactionLine, bank_name, transaction_line
from funding import selectors as funding
from payments import selectors as payments


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
