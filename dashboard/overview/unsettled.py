"""What is not settled yet: how much of it is expected when, in and out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, TypedDict

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, Q, QuerySet, Sum
from django.db.models.functions import JSONObject

_DATES_MAX = 3


class Due(TypedDict):
    """One row of `due_dates`: the cents that have this ISO date, those of them to which it was
    promised, and those that wait for approval."""

    due: str | None
    cents: int
    promised: int
    waiting: int


@dataclass(frozen=True)
class Part:
    """Cents that are expected `on` a day; None: none was promised. `is_late`: it is over.
    `is_rest`: this one stands for all later ones."""

    cents: int
    on: date | None
    is_late: bool = False
    is_rest: bool = False


@dataclass(frozen=True)
class Unsettled:
    """All that is on its way `in` or `out`, in cents, and its parts, the earliest first. `waiting`
    are the cents that are not on their way yet, because they wait for approval."""

    way: str
    cents: int
    parts: list[Part]
    waiting: int = 0


def due_dates(rows: QuerySet[Any], *, column: str, promised: Q, waiting: Q) -> ArraySubquery:
    """The sums of `rows` by the date in `column`, where it is `promised`: a `Due` for each.
    `waiting` are the rows that wait for approval.

    A column for other rows; the database reads it once, however many these are.
    """
    sums = (
        rows.order_by()
        .values(column)
        .annotate(
            cents=Sum("amount"),
            promised=Sum("amount", filter=promised, default=0),
            waiting=Sum("amount", filter=waiting, default=0),
        )
    )
    row = JSONObject(due=F(column), cents=F("cents"), promised=F("promised"), waiting=F("waiting"))
    return ArraySubquery(sums.values(json=row))


def unsettled(found: Sequence[Due], *, way: str, today: date) -> Unsettled:
    """`found` in words: three dates at most, and the rest in one sum."""
    dated = sorted(
        (date.fromisoformat(one["due"]), one["promised"])
        for one in found
        if one["due"] is not None and one["promised"]
    )
    parts = [Part(cents, on, is_late=on < today) for on, cents in dated[:_DATES_MAX]]
    later = sum(cents for _, cents in dated[_DATES_MAX:])
    if later:
        parts.append(Part(later, dated[_DATES_MAX][0], is_rest=True))
    waiting = sum(one["waiting"] for one in found)
    total = sum(one["cents"] for one in found) - waiting
    undated = total - sum(cents for _, cents in dated)
    if undated:
        parts.append(Part(undated, None))
    return Unsettled(way, total, parts, waiting)
