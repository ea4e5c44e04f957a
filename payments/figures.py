"""Figures over all tenants, for the staff desk. Each is one query over an index and a window."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Q
from django.db.models.functions import Coalesce

from common.figures import DayTotal, FailureTotal, StatusTotal
from payments.models import Payment
from payments.states import OPEN, PaymentStatus
from transfers import figures

# Two conditions for two partial indexes: open payments, and the queue.
_MOVING = Q(status__in=OPEN) | Q(status=PaymentStatus.WAITING_FOR_FUNDS)
_CAME_TO_NOTHING = (PaymentStatus.FAILED, PaymentStatus.RETURNED)


def in_flight() -> list[StatusTotal]:
    """Money on its way out, and what waits for money, by status. Reads open payments only."""
    return figures.by_status(Payment.objects.filter(_MOVING))


def failures(*, since: datetime) -> list[FailureTotal]:
    """What failed or came back since then, by code, most frequent first."""
    ended = Payment.objects.annotate(ended_at=Coalesce("returned_at", "failed_at"))
    return figures.by_failure(ended.filter(status__in=_CAME_TO_NOTHING, ended_at__gte=since))


def sent_by_day(*, since: datetime) -> list[DayTotal]:
    """What was handed to the networks since then, per Eastern day on which something was."""
    rows = Payment.objects.filter(processing_at__gte=since)
    return figures.by_day(
        rows,
        sent_at="processing_at",
        completed=Q(status=PaymentStatus.COMPLETED),
        moving=Q(status=PaymentStatus.PROCESSING),
        failed=Q(status__in=_CAME_TO_NOTHING),
    )
