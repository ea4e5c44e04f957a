"""Figures over all tenants, for the staff desk. Each is one query over an index and a window."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Count, F, Max, Q, Sum, Value
from django.db.models.functions import Coalesce, NullIf, TruncDate

from common.days import EASTERN
from common.figures import DayTotal, FailureTotal, StatusTotal
from payments.models import Payment
from payments.states import OPEN, PaymentStatus

_FAILURE_CODES_MAX = 20
# Two conditions for two partial indexes: open payments, and the queue.
_MOVING = Q(status__in=OPEN) | Q(status=PaymentStatus.WAITING_FOR_FUNDS)
_CAME_TO_NOTHING = (PaymentStatus.FAILED, PaymentStatus.RETURNED)


def in_flight() -> list[StatusTotal]:
    """Money on its way out, and what waits for money, by status. Reads open payments only."""
    rows = Payment.objects.filter(_MOVING).values("status")
    totals = rows.annotate(count=Count("pk"), cents=Sum("amount")).order_by("status")
    return [
        StatusTotal(status=row["status"], count=row["count"], cents=int(row["cents"]))
        for row in totals
    ]


def failures(*, since: datetime) -> list[FailureTotal]:
    """What failed or came back since then, by code, most frequent first."""
    ended = Payment.objects.annotate(ended_at=Coalesce("returned_at", "failed_at"))
    rows = ended.filter(status__in=_CAME_TO_NOTHING, ended_at__gte=since)
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


def sent_by_day(*, since: datetime) -> list[DayTotal]:
    """What was handed to the networks since then, per Eastern day on which something was."""
    rows = Payment.objects.filter(processing_at__gte=since)
    days = rows.annotate(day=TruncDate("processing_at", tzinfo=EASTERN)).values("day")
    totals = days.annotate(
        completed=Sum("amount", filter=Q(status=PaymentStatus.COMPLETED), default=0),
        moving=Sum("amount", filter=Q(status=PaymentStatus.PROCESSING), default=0),
        failed=Sum("amount", filter=Q(status__in=_CAME_TO_NOTHING), default=0),
    )
    return [DayTotal(**row) for row in totals.order_by("day")]
