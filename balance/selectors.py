"""Reads of the ledger. Nothing here writes or locks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from balance.models import Balance, BalanceTransaction
from common import ids
from common.errors import NotFound
from common.money import CURRENCY

LINE = (
    "id",
    "sequence",
    "type",
    "amount",
    "currency",
    "available_delta",
    "locked_delta",
    "available_after",
    "locked_after",
    "source_type",
    "source_id",
    "description",
    "created_at",
)

FIRST_SINCE = """
WITH RECURSIVE search (low, high) AS (
    SELECT 1::bigint, sequence + 1
    FROM balance
    WHERE tenant_id = %(tenant_id)s AND currency = %(currency)s
    UNION ALL
    SELECT
        CASE WHEN middle.created_at < %(at)s THEN middle.sequence + 1 ELSE search.low END,
        CASE WHEN middle.created_at < %(at)s THEN search.high ELSE middle.sequence END
    FROM search
    JOIN balance_transaction AS middle
        ON middle.tenant_id = %(tenant_id)s
        AND middle.sequence = (search.low + search.high) / 2
    WHERE search.low < search.high
)
SELECT low FROM search ORDER BY high - low LIMIT 1
"""


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


def postings_of(
    *, tenant_id: object, source_type: str, source_id: object
) -> QuerySet[BalanceTransaction, BalanceTransaction]:
    """What one cause did to the ledger, in order; ids may be `OuterRef`s of another query."""
    return BalanceTransaction.objects.filter(
        tenant_id=tenant_id, source_type=source_type, source_id=source_id
    ).order_by("sequence")


def transactions(
    tenant_id: str,
    *,
    types: Sequence[str] = (),
    source_id: str | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> QuerySet[BalanceTransaction, Any]:
    """The tenant's statement lines as dicts; `created_after` <= time < `created_before`.

    A time bound costs a query of its own, and then as little as no bound.
    """
    rows = BalanceTransaction.objects.filter(tenant_id=tenant_id)
    if types:
        rows = rows.filter(type__in=types)
    if source_id is not None:
        rows = rows.filter(source_id=source_id)
    if created_after is not None:
        rows = rows.filter(sequence__gte=first_sequence_since(tenant_id, created_after))
    if created_before is not None:
        rows = rows.filter(sequence__lt=first_sequence_since(tenant_id, created_before))
    lines: QuerySet[BalanceTransaction, Any] = rows.values(*LINE)
    return lines


def transaction(*, tenant_id: str, transaction_id: str) -> dict[str, Any]:
    """One statement line. Raises NotFound, also for another tenant's."""
    row: dict[str, Any] | None = None
    if ids.is_id(transaction_id, "btx"):
        row = transactions(tenant_id).filter(pk=transaction_id).first()
    if row is None:
        raise NotFound("There is no such balance transaction.")
    return row


def newest_first(
    rows: QuerySet[BalanceTransaction, Any], *, chunk: int = 1_000
) -> Iterator[dict[str, Any]]:
    """Every line, chunk by chunk, each in a short query: no snapshot is held in between.

    Lines posted meanwhile are left out.
    """
    rows = rows.order_by("-sequence")
    part = list(rows[:chunk])
    while part:
        yield from part
        part = list(rows.filter(sequence__lt=part[-1]["sequence"])[:chunk])


def first_sequence_since(tenant_id: str, at: datetime) -> int:
    """The number of the first line at or after `at`, or the one that the next line will get.

    Numbers have no gaps and times never go back along them, so halving finds it without an index
    on the time, in one query.
    """
    with connection.cursor() as cursor:
        cursor.execute(FIRST_SINCE, {"tenant_id": tenant_id, "currency": CURRENCY, "at": at})
        row = cursor.fetchone()
    return row[0] if row else 1
