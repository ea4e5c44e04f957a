"""Figures over the transfers of all tenants, each one query. The caller filters the rows by an
index."""

from __future__ import annotations

from typing import Any

from django.db.models import Case, Count, F, Max, Q, QuerySet, Sum, Value
from django.db.models.functions import Coalesce, NullIf, TruncDate

from common.days import EASTERN
from common.figures import DayTotal, FailureTotal, StatusTotal

_FAILURE_CODES_MAX = 20
_STATUS = F("status")


def by_status(rows: QuerySet[Any], *, by: F | Case = _STATUS) -> list[StatusTotal]:
    """How many of `rows` are in each status, and their amounts in cents. `by` says what the
    status of a row is."""
    totals = rows.values(standing=by).annotate(count=Count("pk"), cents=Sum("amount"))
    return [
        StatusTotal(status=row["standing"], count=row["count"], cents=int(row["cents"]))
        for row in totals.order_by("standing")
    ]


def by_failure(rows: QuerySet[Any]) -> list[FailureTotal]:
    """Why `rows` failed or came back, by code, most frequent first."""
    code = Coalesce(NullIf(F("return_code"), Value("")), F("failure_code"))
    codes = rows.annotate(code=code).values("code")
    totals = codes.annotate(count=Count("pk"), cents=Sum("amount"), message=Max("failure_message"))
    ordered = totals.order_by("-count", "code")[:_FAILURE_CODES_MAX]
    return [
        FailureTotal(
            code=row["code"], count=row["count"], cents=int(row["cents"]), message=row["message"]
        )
        for row in ordered
    ]


def by_day(
    rows: QuerySet[Any], *, sent_at: str, completed: Q, moving: Q, failed: Q
) -> list[DayTotal]:
    """What became of `rows`, for each Eastern day of their column `sent_at`. Amounts are cents."""
    days = rows.annotate(day=TruncDate(sent_at, tzinfo=EASTERN)).values("day")
    totals = days.annotate(
        completed=Sum("amount", filter=completed, default=0),
        moving=Sum("amount", filter=moving, default=0),
        failed=Sum("amount", filter=failed, default=0),
    )
    return [DayTotal(**row) for row in totals.order_by("day")]
