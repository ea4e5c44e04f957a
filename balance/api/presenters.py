"""What a client sees of the ledger."""

from __future__ import annotations

from typing import Any

from balance.selectors import Funds
from common import clock

CSV_HEADER = (
    "id",
    "type",
    "amount",
    "currency",
    "availableDelta",
    "lockedDelta",
    "availableBalance",
    "lockedBalance",
    "sourceType",
    "sourceId",
    "description",
    "createdAt",
)


def summary(funds: Funds) -> dict[str, Any]:
    """The four fields of the interface document, and no others."""
    return {
        "availableBalance": funds.available,
        "pendingBalance": funds.pending,
        "lockedBalance": funds.locked,
        "currency": funds.currency,
    }


def transaction(row: dict[str, Any]) -> dict[str, Any]:
    """One line of the statement, from a row of `selectors.transactions`."""
    return {
        "id": row["id"],
        "type": row["type"],
        "amount": row["amount"],
        "currency": row["currency"],
        "availableDelta": row["available_delta"],
        "lockedDelta": row["locked_delta"],
        "balanceAfter": {
            "availableBalance": row["available_after"],
            "lockedBalance": row["locked_after"],
        },
        "sourceType": row["source_type"],
        "sourceId": row["source_id"],
        "description": row["description"],
        "createdAt": clock.text_of(row["created_at"]),
    }


def csv_row(row: dict[str, Any]) -> list[str | int]:
    """A statement line as cells, in the order of CSV_HEADER."""
    shown = transaction(row)
    cells = shown | shown["balanceAfter"]
    return [cells[name] for name in CSV_HEADER]
