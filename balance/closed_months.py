"""The totals of months that are over, stored when they are first asked for.

From then on the statement of a month is read at once, even of one of a million lines.

A month is over for a tenant when a line of a later one exists: times never go back along the
numbers (migrations/sql/posting.sql), so no line can be added to it any more. Only long months are
stored; the others are added up each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import date

from django.db.models import Count, Sum

from balance.history import Closing, closings
from balance.kinds import PostingType
from balance.models import BalanceTransaction, ClosedMonthTotal
from common import days
from common.audits import Finding, Scope

# Below this, adding up takes a few milliseconds.
LINES_MIN = 2_000


@dataclass(frozen=True, kw_only=True)
class Total:
    """All lines of one type together, in cents."""

    type: PostingType
    lines: int
    available_delta: int
    locked_delta: int


def totals(*, tenant_id: str, first: date, opening: Closing, closing: Closing) -> list[Total]:
    """The totals by type of the month that begins on `first`, in the order in which the types are
    declared; types without lines are left out. `opening` and `closing` are its bounds.

    One query for a stored month, however long. Of any other one the lines are read, and a long
    month that is over is stored.
    """
    if closing.sequence == opening.sequence:
        return []
    stored = _in_order(_rows(tenant_id, first))
    if _leads(stored, opening, closing):
        return stored
    found = added_up(tenant_id=tenant_id, opening=opening, closing=closing)
    if closing.sequence - opening.sequence >= LINES_MIN and _is_over(tenant_id, first, closing):
        _store(tenant_id, first, found)
    return found


def added_up(*, tenant_id: str, opening: Closing, closing: Closing) -> list[Total]:
    """The totals of the lines between two moments, read line by line."""
    lines = BalanceTransaction.objects.filter(
        tenant_id=tenant_id, sequence__gt=opening.sequence, sequence__lte=closing.sequence
    )
    return _in_order(
        lines.values_list("type").annotate(
            Count("sequence"), Sum("available_delta"), Sum("locked_delta")
        )
    )


def check(scope: Scope) -> Iterator[Finding]:
    """Find stored totals that are not those of the lines. Only the full check looks: the rows never
    change, and a page shows no totals that do not lead from the opening to the closing balance."""
    if not scope.full:
        return
    stored = ClosedMonthTotal.objects.order_by("tenant_id", "first")
    if scope.tenant_ids is not None:
        stored = stored.filter(tenant_id__in=scope.tenant_ids)
    for tenant_id, first in list(stored.values_list("tenant_id", "first").distinct()):
        moments = [days.start_of(first), days.start_of(days.next_month(first))]
        opening, closing = closings(tenant_id=tenant_id, moments=moments)
        lines = added_up(tenant_id=tenant_id, opening=opening, closing=closing)
        rows = list(_rows(tenant_id, first))
        if len(rows) != len(lines) or _in_order(rows) != lines:
            yield Finding(
                code="closed_month",
                tenant_id=tenant_id,
                subject=f"{first:%Y-%m}",
                message="the stored totals are not those of the lines",
            )


def _rows(tenant_id: str, first: date) -> Iterable[tuple[str, int, int, int]]:
    """What is stored for a month. Only the check looks for types that nobody knows."""
    rows = ClosedMonthTotal.objects.filter(tenant_id=tenant_id, first=first)
    return rows.values_list("type", "lines", "available_delta", "locked_delta")


def _in_order(rows: Iterable[tuple[str, int, int, int]]) -> list[Total]:
    by_type = {type: numbers for type, *numbers in rows}
    return [_total(kind, *by_type[kind]) for kind in PostingType if kind in by_type]


def _total(type: PostingType, lines: int, available_delta: int, locked_delta: int) -> Total:
    return Total(
        type=type,
        lines=lines,
        available_delta=int(available_delta),
        locked_delta=int(locked_delta),
    )


def _leads(found: list[Total], opening: Closing, closing: Closing) -> bool:
    """Whether the totals are of that many lines and make that difference."""
    return (
        opening.sequence + sum(total.lines for total in found),
        opening.available + sum(total.available_delta for total in found),
        opening.locked + sum(total.locked_delta for total in found),
    ) == (closing.sequence, closing.available, closing.locked)


def _is_over(tenant_id: str, first: date, closing: Closing) -> bool:
    """Whether the line after the last one that was read is of a later month."""
    end = days.start_of(days.next_month(first))
    following = BalanceTransaction.objects.filter(
        tenant_id=tenant_id, sequence=closing.sequence + 1, created_at__gte=end
    )
    return following.exists()


def _store(tenant_id: str, first: date, found: list[Total]) -> None:
    """Two readers at once write the same rows, once."""
    rows = [ClosedMonthTotal(tenant_id=tenant_id, first=first, **asdict(each)) for each in found]
    ClosedMonthTotal.objects.bulk_create(rows, ignore_conflicts=True)
