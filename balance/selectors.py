"""Reads of the ledger. Nothing here writes or locks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from balance.models import Balance, BalanceTransaction
from common.money import CURRENCY


@dataclass(frozen=True)
class Funds:
    """What a tenant has, in cents, and the threshold of `available_balance_fell`."""

    available: int = 0
    pending: int = 0
    locked: int = 0
    currency: str = CURRENCY
    notify_below: int | None = None


def summary(tenant_id: str) -> Funds:
    """The tenant's balance; zeros before its first movement. One query."""
    row = (
        Balance.objects.filter(tenant_id=tenant_id, currency=CURRENCY)
        .values_list("available", "pending", "locked", "currency", "notify_below")
        .first()
    )
    return Funds(*row) if row else Funds()


def transactions(tenant_id: str) -> QuerySet[BalanceTransaction, Any]:
    """The tenant's statement lines, as dicts."""
    return BalanceTransaction.objects.filter(tenant_id=tenant_id).values()


def postings_of(
    *, tenant_id: object, source_type: str, source_id: object
) -> QuerySet[BalanceTransaction, BalanceTransaction]:
    """What one cause did to the ledger, in order; ids may be `OuterRef`s of another query."""
    return BalanceTransaction.objects.filter(
        tenant_id=tenant_id, source_type=source_type, source_id=source_id
    ).order_by("sequence")
