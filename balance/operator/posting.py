"""Writes the operator's lines: many in one round trip, in the transaction of whatever causes them.

The application's role has no right to insert lines; it calls `balance_book`
(migrations/sql/operator_lines.sql). Nothing is locked or updated, and no balance of the operator
exists, so tenants do not wait for each other here. The lines are written before the tenants'
postings; `balance.sets` does both in one round trip.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from balance.errors import PostingConflict
from balance.operator.accounts import Step
from common.engine import arrays, sql
from common.money import AMOUNT_MAX

BOOK = """
SELECT balance_book(
    %(booked_steps)s::text::text[], %(booked_amounts)s::text::bigint[],
    %(booked_rails)s::text::text[], %(booked_source_types)s::text::text[],
    %(booked_source_ids)s::text::text[], %(booked_tenant_ids)s::text::text[],
    %(booked_days)s::text::date[], %(now)s
) AS different
"""


class Booking(NamedTuple):
    """One line to write, of `amount` cents, known by its source and step.

    `rail` names the settlement account; it is empty where none is concerned. `tenant_id` is whom it
    concerns. `day` is the settlement date, where the bank said one; otherwise it is the Eastern day
    on which the line is written.
    """

    step: Step
    amount: int
    rail: str
    source_type: str
    source_id: str
    tenant_id: str | None
    day: date | None = None


def book(bookings: Sequence[Booking], *, now: datetime) -> None:
    """Write each line once, however often it is asked for.

    Raises PostingConflict where a line of the same source and step says another amount, rail or
    tenant, in a transaction that the caller must undo then; ValueError for an amount out of range.
    """
    if bookings:
        ((different,),) = sql.rows(BOOK, values_of(bookings) | {"now": now})
        require_same(different)


def values_of(bookings: Sequence[Booking]) -> dict[str, Any]:
    """The values of BOOK, without `now`. Raises ValueError for an amount out of range."""
    for each in bookings:
        if type(each.amount) is not int or not 1 <= each.amount <= AMOUNT_MAX:
            raise ValueError(f"{each.amount!r} is not an amount of 1 to {AMOUNT_MAX} cents")
    return {
        "booked_steps": arrays.texts([each.step for each in bookings]),
        "booked_amounts": arrays.plain([each.amount for each in bookings]),
        "booked_rails": arrays.texts([each.rail for each in bookings]),
        "booked_source_types": arrays.texts([each.source_type for each in bookings]),
        "booked_source_ids": arrays.texts([each.source_id for each in bookings]),
        "booked_tenant_ids": arrays.mixed([each.tenant_id for each in bookings]),
        "booked_days": arrays.mixed([each.day for each in bookings]),
    }


def require_same(different: str | None) -> None:
    """Raise PostingConflict for what BOOK answered, if a line is there and says something else."""
    if different is not None:
        raise PostingConflict(
            f"The operator's line {different} is there with another amount, rail or tenant."
        )
