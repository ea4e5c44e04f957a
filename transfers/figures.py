"""Figures over the transfers of all tenants, each one statement. The caller filters the rows by an
index, and keeps the statement. Amounts are cents."""

from __future__ import annotations

from typing import Any

from django.db.models import Case, Count, F, Max, Q, QuerySet, Sum, Value
from django.db.models.functions import Coalesce, NullIf, TruncDate

from common.days import EASTERN
from common.engine import compiled
from common.engine.compiled import Statement
from common.figures import DayTotal, FailureTotal, StatusTotal

_FAILURE_CODES_MAX = 20
_STATUS = F("status")


def by_status(rows: QuerySet[Any], *, by: F | Case = _STATUS) -> Statement:
    """How many of `rows` are in each status, and their amounts. `by` says what the status of a row
    is. For `status_totals`."""
    totals = rows.values(standing=by).annotate(count=Count("pk"), cents=Sum("amount"))
    return compiled.union(totals.order_by("standing").values_list("standing", "count", "cents"))


def status_totals(found: Statement, **given: Any) -> list[StatusTotal]:
    return [
        StatusTotal(status=status, count=count, cents=int(cents))
        for status, count, cents in found.rows(**given)
    ]


def by_failure(rows: QuerySet[Any]) -> Statement:
    """Why `rows` failed or came back, by code, most frequent first. For `failure_totals`."""
    code = Coalesce(NullIf(F("return_code"), Value("")), F("failure_code"))
    codes = rows.annotate(code=code).values("code")
    totals = codes.annotate(count=Count("pk"), cents=Sum("amount"), message=Max("failure_message"))
    ordered = totals.order_by("-count", "code")[:_FAILURE_CODES_MAX]
    return compiled.union(ordered.values_list("code", "count", "cents", "message"))


def failure_totals(found: Statement, **given: Any) -> list[FailureTotal]:
    return [
        FailureTotal(code=code, count=count, cents=int(cents), message=message)
        for code, count, cents, message in found.rows(**given)
    ]


def by_day(rows: QuerySet[Any], *, sent_at: str, completed: Q, moving: Q, failed: Q) -> Statement:
    """What became of `rows`, for each Eastern day of their column `sent_at`. For `day_totals`."""
    days = rows.annotate(day=TruncDate(sent_at, tzinfo=EASTERN)).values("day")
    totals = days.annotate(
        completed=Sum("amount", filter=completed, default=0),
        moving=Sum("amount", filter=moving, default=0),
        failed=Sum("amount", filter=failed, default=0),
    )
    columns = ("day", "completed", "moving", "failed")
    return compiled.union(totals.order_by("day").values_list(*columns))


def day_totals(found: Statement, **given: Any) -> list[DayTotal]:
    return [
        DayTotal(day=day, completed=int(completed), moving=int(moving), failed=int(failed))
        for day, completed, moving, failed in found.rows(**given)
    ]
