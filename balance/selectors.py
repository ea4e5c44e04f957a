"""Reads of the ledger. Nothing here writes or locks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, QuerySet
from django.db.models.expressions import Combinable

from balance.kinds import PostingType
from balance.models import Adjustment, Balance, BalanceTransaction
from common import ids
from common.engine import arrays, sql
from common.errors import NotFound
from common.money import CURRENCY
from tenants.models import Mode

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

SUMMARY = """
SELECT available, pending, locked, currency, notify_below
FROM balance
WHERE tenant_id = %(tenant_id)s AND currency = %(currency)s
"""

SUMMARIES = """
SELECT tenant_id, available, pending, locked, currency, notify_below
FROM balance
WHERE tenant_id = ANY(%(tenant_ids)s::text::text[]) AND currency = %(currency)s
"""

_PAGE = f"""
SELECT {", ".join(LINE)} FROM balance_transaction
WHERE {{bounds}} ORDER BY sequence DESC LIMIT %(count)s
"""  # noqa: S608  # our own names

# With `LIMIT 1` a step looks its one line up by the index; without it PostgreSQL would join the
# steps with all lines of a small ledger.
FIRST_BEHIND = """
WITH RECURSIVE search (low, high) AS (
    SELECT 1::bigint, sequence + 1
    FROM balance
    WHERE tenant_id = %(tenant_id)s AND currency = %(currency)s
    UNION ALL
    SELECT
        CASE WHEN middle.is_early THEN middle.sequence + 1 ELSE search.low END,
        CASE WHEN middle.is_early THEN search.high ELSE middle.sequence END
    FROM search
    CROSS JOIN LATERAL (
        SELECT
            sequence,
            created_at < %(at)s OR (%(pass_equal)s AND created_at = %(at)s) AS is_early
        FROM balance_transaction
        WHERE tenant_id = %(tenant_id)s AND sequence = (search.low + search.high) / 2
        LIMIT 1
    ) AS middle
    WHERE search.low < search.high
)
SELECT low FROM search ORDER BY high - low LIMIT 1
"""


# Two ranges of the index: balances that nobody noted as low, and those noted until a time that is
# over.
LOW = """
SELECT tenant_id FROM balance WHERE is_low AND low_noted_until IS NULL
UNION ALL
SELECT tenant_id FROM balance WHERE is_low AND low_noted_until <= %(now)s
"""
RECOVERED = """
SELECT tenant_id FROM balance WHERE NOT is_low AND low_noted_until IS NOT NULL
"""


@dataclass(frozen=True)
class Funds:
    """What a tenant has, in cents, and the threshold of `available_balance_fell`."""

    available: int = 0
    pending: int = 0
    locked: int = 0
    currency: str = CURRENCY
    notify_below: int | None = None

    def is_below(self, threshold: int) -> bool:
        """Whether what is available and what is on its way are together less than that."""
        return self.available + self.pending < threshold


def summary(tenant_id: str) -> Funds:
    """The tenant's balance; zeros before its first line. One query."""
    row = sql.first(SUMMARY, {"tenant_id": tenant_id, "currency": CURRENCY})
    return Funds(*row) if row else Funds()


def summaries(tenant_ids: Collection[str]) -> dict[str, Funds]:
    """`summary` of several tenants, by their ids. One query."""
    values = {"tenant_ids": arrays.texts(tenant_ids), "currency": CURRENCY}
    found = {tenant_id: Funds(*row) for tenant_id, *row in sql.rows(SUMMARIES, values)}
    return {tenant_id: found.get(tenant_id, Funds()) for tenant_id in tenant_ids}


def postings_of(
    *, tenant_id: object, source_type: str, source_id: object
) -> QuerySet[BalanceTransaction, BalanceTransaction]:
    """What one cause did to the ledger, in order; ids may be `OuterRef`s of another query."""
    return BalanceTransaction.objects.filter(
        tenant_id=tenant_id, source_type=source_type, source_id=source_id
    ).order_by("sequence")


def adjusted_by(*, adjustment_id: str) -> int:
    """By how many cents an adjustment changed a live tenant's balance. Raises NotFound."""
    row = live_adjustments().filter(pk=adjustment_id).first() if "\0" not in adjustment_id else None
    if row is None:
        raise NotFound("There is no such adjustment of a live tenant.")
    return row.amount if row.type == PostingType.CREDIT else -row.amount


def live_adjustments() -> QuerySet[Adjustment]:
    """The adjustments of live tenants, the oldest first."""
    return Adjustment.objects.filter(tenant__mode=Mode.LIVE).order_by("created_at", "pk")


def transactions(
    tenant_id: str,
    *,
    types: Sequence[str] = (),
    source_id: str | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> QuerySet[BalanceTransaction, Any]:
    """The tenant's statement lines as dicts, those strictly between the two times.

    A time bound costs a query of its own, and then as little as no bound.
    """
    rows = BalanceTransaction.objects.filter(tenant_id=tenant_id)
    if types:
        rows = rows.filter(type__in=types)
    if source_id is not None:
        rows = rows.filter(source_id=source_id)
    if created_after is not None:
        first = first_sequence(tenant_id, created_after, pass_equal=True)
        rows = rows.filter(sequence__gte=first)
    if created_before is not None:
        end = first_sequence(tenant_id, created_before, pass_equal=False)
        rows = rows.filter(sequence__lt=end)
    lines: QuerySet[BalanceTransaction, Any] = rows.values(*LINE)
    return lines


def page(
    tenant_id: str,
    *,
    types: Sequence[str] = (),
    source_id: str | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
    before: int | None = None,
    count: int,
) -> list[dict[str, Any]]:
    """The newest `count` of `transactions` whose number is below `before`, newest first.

    Each type is one range of the index, in order, however rare it is: several are merged.
    """
    bounds, values = _bounds(tenant_id, created_after, created_before)
    if source_id is not None:
        bounds.append("source_id = %(source_id)s")
    if before is not None:
        bounds.append("sequence < %(before)s")
    kinds = list(dict.fromkeys(types))
    names = {f"type_{number}": kind for number, kind in enumerate(kinds)}
    ranges = [[*bounds, f"type = %({name})s"] for name in names] or [bounds]
    values |= {"source_id": source_id, "before": before, "count": count, **names}
    text = " UNION ALL ".join(f"({_PAGE.format(bounds=' AND '.join(item))})" for item in ranges)
    if len(ranges) > 1:
        text += " ORDER BY sequence DESC LIMIT %(count)s"
    return [dict(zip(LINE, row, strict=True)) for row in sql.rows(text, values)]


def _bounds(
    tenant_id: str, created_after: datetime | None, created_before: datetime | None
) -> tuple[list[str], dict[str, Any]]:
    """SQL conditions on tenant and time, and their values. Each time costs a query."""
    bounds, values = ["tenant_id = %(tenant_id)s"], dict[str, Any](tenant_id=tenant_id)
    if created_after is not None:
        bounds.append("sequence >= %(first)s")
        values["first"] = first_sequence(tenant_id, created_after, pass_equal=True)
    if created_before is not None:
        bounds.append("sequence < %(end)s")
        values["end"] = first_sequence(tenant_id, created_before, pass_equal=False)
    return bounds, values


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


def first_sequence(tenant_id: str, at: datetime, *, pass_equal: bool) -> int:
    """The number of the first line at `at` or later (later only: `pass_equal`), or the next number.

    Numbers have no gaps and times never go back along them, so a binary search finds it in one
    query without an index on the time.
    """
    values: dict[str, Any] = {
        "tenant_id": tenant_id,
        "currency": CURRENCY,
        "at": at,
        "pass_equal": pass_equal,
    }
    row = sql.first(FIRST_BEHIND, values)
    return row[0] if row else 1


def covers(*, tenant_id: Combinable | str, amount: Combinable | int) -> Exists:
    """Whether the tenant has at least `amount` available; a condition for other queries."""
    return Exists(Balance.objects.filter(tenant_id=tenant_id, available__gte=amount))


def low_tenants(*, now: datetime) -> list[str]:
    """The tenants whose balance, with what is on its way, is below their `notify_below`, unless
    somebody noted that it may wait (`ledger.note_low`). Reads their rows and no others."""
    return [tenant_id for (tenant_id,) in sql.rows(LOW, {"now": now})]


def recovered_tenants() -> list[str]:
    """The tenants that were noted as low and are not low any more."""
    return [tenant_id for (tenant_id,) in sql.rows(RECOVERED, {})]
