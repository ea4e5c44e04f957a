"""Monthly statements: what a tenant had at the start and the end, and what made the difference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any

from balance import selectors
from balance.closed_months import Total, totals
from balance.history import Closing, closings
from balance.models import BalanceTransaction
from common import days
from common.errors import NotFound

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

    def is_running(self, now: datetime) -> bool:
        """Whether the month is not over: more lines may follow."""
        return days.day_of(now) <= self.last

    @property
    def lines(self) -> int:
        """How many statement lines the month has."""
        return self.closing.sequence - self.opening.sequence


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A month and what its lines come to, by type."""

    month: Month
    totals: list[Total]


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

    Of a long month that is over, nothing but its totals is read.
    """
    if first not in _starts(tenant_id, now):
        raise NotFound("There is no statement of this month.")
    end = min(days.start_of(days.next_month(first)), now + _A_MOMENT)
    opening, closing = closings(tenant_id=tenant_id, moments=[days.start_of(first), end])
    month = Month(first, opening, closing)
    return Statement(
        month=month,
        totals=totals(tenant_id=tenant_id, first=first, opening=opening, closing=closing),
    )


def lines(*, tenant_id: str, month: Month) -> list[dict[str, Any]]:
    """The lines of the month, oldest first, however many. One query."""
    rows = selectors.transactions(tenant_id).filter(
        sequence__gt=month.opening.sequence, sequence__lte=month.closing.sequence
    )
    return list(rows.order_by("sequence"))


def _starts(tenant_id: str, now: datetime) -> Iterator[date]:
    # By its number, and not by `first()`: that adds an order, by which the whole history is read.
    rows = BalanceTransaction.objects.filter(tenant_id=tenant_id, sequence=1)
    first_line = next(iter(rows.values_list("created_at", flat=True)), None)
    if first_line is None:
        return
    month = days.day_of(first_line).replace(day=1)
    while month <= days.day_of(now):
        yield month
        month = days.next_month(month)
