"""A page of a month's statement: at most 50 rows, oldest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from balance import movements
from balance import selectors as ledger
from balance.movements import Span
from balance.statements import Month
from common.errors import NotFound

SIZE = 50


@dataclass(frozen=True)
class MonthPage:
    """Some rows of a month. `next` is the address parameter of the next page, empty on the last."""

    rows: list[Any]
    next: str
    is_first: bool


def of_movements(*, tenant_id: str, month: Month, after: str) -> MonthPage:
    """The movements that follow the one known by the line `after`; the first ones where that is
    empty. Raises NotFound unless it is a line of the month."""
    span = Span(after=month.opening.sequence, upto=month.closing.sequence)
    beyond = _position(tenant_id, month, after) if after else None
    rows = movements.oldest(tenant_id, span=span, beyond=beyond, count=SIZE + 1)
    return _page(rows, rows[SIZE - 1].id if len(rows) > SIZE else "", after)


def of_lines(*, tenant_id: str, month: Month, after: str) -> MonthPage:
    """The lines of the ledger that follow `after`, as `of_movements`."""
    beyond = _position(tenant_id, month, after) if after else month.opening.sequence
    lines = ledger.transactions(tenant_id).filter(
        sequence__gt=beyond, sequence__lte=month.closing.sequence
    )
    rows = list(lines.order_by("sequence")[: SIZE + 1])
    return _page(rows, rows[SIZE - 1]["id"] if len(rows) > SIZE else "", after)


def _position(tenant_id: str, month: Month, after: str) -> int:
    found = movements.position(tenant_id=tenant_id, line_id=after)
    if not month.opening.sequence < found <= month.closing.sequence:
        raise NotFound("This month has no such line.")
    return found


def _page(rows: list[Any], next: str, after: str) -> MonthPage:
    return MonthPage(rows=rows[:SIZE], next=next, is_first=not after)
