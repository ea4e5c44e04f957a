"""Figures over all tenants, for the staff desk. Each is one query that reads an index or a bounded
time window."""

from __future__ import annotations

from datetime import datetime
from functools import cache

from django.db.models import Case, DateTimeField, F, Q, Value, When
from django.db.models.functions import Coalesce

from common.engine.compiled import Given, Statement
from common.figures import DayTotal, FailureTotal, StatusTotal
from payments import selectors
from payments.models import Payment
from payments.states import OPEN, PaymentStatus
from transfers import figures

# Two conditions, because each fits a partial index: open payments, and the queue for money.
_MOVING = Q(status__in=OPEN) | Q(status=PaymentStatus.WAITING_FOR_FUNDS)
# What awaits approval has a status of what it does once it is approved.
NEEDS_APPROVAL = "needs_approval"
_STANDING = Case(
    When(selectors.AWAITS_APPROVAL, then=Value(NEEDS_APPROVAL)),
    default=F("status"),
)
_CAME_TO_NOTHING = (PaymentStatus.FAILED, PaymentStatus.RETURNED)


def in_flight() -> list[StatusTotal]:
    """How much money is on its way out or waits for money, by status; NEEDS_APPROVAL of what
    awaits it, whatever its status. Reads only open payments."""
    return figures.status_totals(_in_flight())


def failures(*, since: datetime) -> list[FailureTotal]:
    """Why payments failed or came back since `since`, by code, most frequent first."""
    return figures.failure_totals(_failures(), since=since)


def sent_by_day(*, since: datetime) -> list[DayTotal]:
    """What was handed to the networks since `since`, for each Eastern day on which
    something was."""
    return figures.day_totals(_sent_by_day(), since=since)


@cache
def _in_flight() -> Statement:
    return figures.by_status(Payment.objects.filter(_MOVING), by=_STANDING)


@cache
def _failures() -> Statement:
    since = Given("since", DateTimeField())
    ended = Payment.objects.annotate(ended_at=Coalesce("returned_at", "failed_at"))
    return figures.by_failure(ended.filter(status__in=_CAME_TO_NOTHING, ended_at__gte=since))


@cache
def _sent_by_day() -> Statement:
    since = Given("since", DateTimeField())
    return figures.by_day(
        Payment.objects.filter(processing_at__gte=since),
        sent_at="processing_at",
        completed=Q(status=PaymentStatus.COMPLETED),
        moving=Q(status=PaymentStatus.PROCESSING),
        failed=Q(status__in=_CAME_TO_NOTHING),
    )
