"""Monthly statements: what a tenant had at the start and the end, and what made the difference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any

from django.db.models import Count, QuerySet, Sum

from balance import selectors
from balance.history import Closing, closings
from balance.kinds import PostingType
from balance.models import BalanceTransaction
from common import days
from common.errors import NotFound

# Printed below the totals; a longer month is for the CSV file.
LINES_MAX = 500
_A_MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True)
class Month:
    """One Eastern calendar month of a tenant. The present month ends now."""

    first: date
    opening: Closing
    closing: Closing

    @property
    def last(self) -> date:
        """The last day of the month, whether or not it has come."""
        return days.next_month(self.first) - timedelta(days=1)

    @property
    def lines(self) -> int:
        """How many statement lines the month has."""
        return self.closing.sequence - self.opening.sequence


@dataclass(frozen=True, kw_only=True)
class Total:
    """All lines of one type together, in cents."""

    type: PostingType
    lines: int
    available_delta: int
    locked_delta: int


@dataclass(frozen=True, kw_only=True)
class Statement:
    """`rows` are the lines, oldest first; None where there are more than LINES_MAX."""

    month: Month
    totals: list[Total]
    rows: list[dict[str, Any]] | None


def months(*, tenant_id: str, now: datetime) -> list[Month]:
    """Every month since the tenant's first line, the present one first. Two queries."""
    starts = list(_starts(tenant_id, now))
    if not starts:
        return []
    moments = [days.start_of(day) for day in starts] + [now + _A_MOMENT]
    ends = pairwise(closings(tenant_id=tenant_id, moments=moments))
    found = [Month(first, *bounds) for first, bounds in zip(starts, ends, strict=True)]
    return found[::-1]


def statement(*, tenant_id: str, first: date, now: datetime) -> Statement:
    """The statement of the month that begins on `first`. Raises NotFound for a month that has not
    begun, or is before the tenant's first line.

    Reads the month's lines once, however many came before and after.
    """
    if first not in _starts(tenant_id, now):
        raise NotFound("There is no statement of this month.")
    end = min(days.start_of(days.next_month(first)), now + _A_MOMENT)
    opening, closing = closings(tenant_id=tenant_id, moments=[days.start_of(first), end])
    month = Month(first, opening, closing)
    rows = _lines(tenant_id, month)
    return Statement(
        month=month,
        totals=_totals(rows),
        rows=_printed(tenant_id, month) if month.lines <= LINES_MAX else None,
    )


def _starts(tenant_id: str, now: datetime) -> Iterator[date]:
    rows = BalanceTransaction.objects.filter(tenant_id=tenant_id, sequence=1)
    first_line = rows.values_list("created_at", flat=True).first()
    if first_line is None:
        return
    month = days.day_of(first_line).replace(day=1)
    while month <= days.day_of(now):
        yield month
        month = days.next_month(month)


def _lines(tenant_id: str, month: Month) -> QuerySet[BalanceTransaction]:
    return BalanceTransaction.objects.filter(
        tenant_id=tenant_id,
        sequence__gt=month.opening.sequence,
        sequence__lte=month.closing.sequence,
    )


def _totals(rows: QuerySet[BalanceTransaction]) -> list[Total]:
    """By type, in the order in which the types are declared; types without lines are left out."""
    sums = rows.values("type").annotate(
        lines=Count("sequence"), available=Sum("available_delta"), locked=Sum("locked_delta")
    )
    by_type = {row["type"]: row for row in sums}
    return [
        Total(
            type=kind,
            lines=by_type[kind]["lines"],
            available_delta=int(by_type[kind]["available"]),
            locked_delta=int(by_type[kind]["locked"]),
        )
        for kind in PostingType
        if kind in by_type
    ]


def _printed(tenant_id: str, month: Month) -> list[dict[str, Any]]:
    rows = selectors.transactions(tenant_id).filter(
        sequence__gt=month.opening.sequence, sequence__lte=month.closing.sequence
    )
    return list(rows.order_by("sequence"))
