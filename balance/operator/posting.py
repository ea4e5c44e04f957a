"""Writes the operator's lines: many in one round trip, in the transaction of whatever causes them.

The application's role has no right to insert lines; it calls `balance_book`
(migrations/sql/operator_lines.sql). Nothing is locked or updated, and no balance of the operator
exists, so tenants do not wait for each other here. Call it before the tenants' postings, while no
balance row is locked.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import NamedTuple

from balance.errors import PostingConflict
from balance.operator.accounts import Step
from common.engine import arrays, sql
from common.money import AMOUNT_MAX

BOOK = """
SELECT balance_book(
    %(steps)s::text::text[], %(amounts)s::text::bigint[], %(rails)s::text::text[],
    %(source_types)s::text::text[], %(source_ids)s::text::text[], %(tenant_ids)s::text::text[],
    %(days)s::text::date[], %(now)s
)
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
    if not bookings:
        return
    for each in bookings:
        if type(each.amount) is not int or not 1 <= each.amount <= AMOUNT_MAX:
            raise ValueError(f"{each.amount!r} is not an amount of 1 to {AMOUNT_MAX} cents")
    columns = {
        "steps": arrays.texts([each.step for each in bookings]),
        "amounts": arrays.plain([each.amount for each in bookings]),
        "rails": arrays.texts([each.rail for each in bookings]),
        "source_types": arrays.texts([each.source_type for each in bookings]),
        "source_ids": arrays.texts([each.source_id for each in bookings]),
        "tenant_ids": arrays.mixed([each.tenant_id for each in bookings]),
        "days": arrays.mixed([each.day for each in bookings]),
    }
    ((different,),) = sql.rows(BOOK, columns | {"now": now})
    if different:
        raise PostingConflict(
            f"The operator's line {different} is there with another amount, rail or tenant."
        )
