"""Figures over all tenants, for the staff desk. Each is one query that reads an index or a bounded
time window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from django.db.models import Count, DateTimeField, F, Q, QuerySet

from common.engine import compiled
from common.engine.compiled import Given, Statement
from common.figures import DayTotal, FailureTotal, StatusTotal
from funding.models import FundingMethod, FundingTransaction
from funding.states import IN_FLIGHT, FundingStatus
from networks import return_codes
from networks.return_codes import Group
from transfers import figures

# Nacha's return rates are taken over 60 days of debits, by the day on which they were sent.
RETURN_WINDOW = timedelta(days=60)


@dataclass(frozen=True, kw_only=True)
class DebitReturns:
    """ACH debits sent within the window, and how many came back. `tenant_id` is empty in the figure
    for all tenants."""

    tenant_id: str = ""
    tenant_name: str = ""
    debits: int = 0
    unauthorized: int = 0
    administrative: int = 0
    returned: int = 0


def in_flight() -> list[StatusTotal]:
    """How much funding is on its way, by status. Reads only the funding in flight."""
    return figures.status_totals(_in_flight())


def failures(*, since: datetime) -> list[FailureTotal]:
    """Why funding failed or came back since `since`, by code, most frequent first."""
    return figures.failure_totals(_failures(), since=since)


def sent_by_day(*, since: datetime) -> list[DayTotal]:
    """What was handed to the networks since `since`, for each Eastern day on which
    something was."""
    return figures.day_totals(_sent_by_day(), since=since)


def debit_returns(*, now: datetime) -> DebitReturns:
    """The debits of all tenants within Nacha's window, and their returns."""
    ((debits, unauthorized, administrative, returned),) = _returns().rows(now=now)
    return DebitReturns(
        debits=debits,
        unauthorized=unauthorized,
        administrative=administrative,
        returned=returned,
    )


@cache
def _in_flight() -> Statement:
    return figures.by_status(FundingTransaction.objects.filter(status__in=IN_FLIGHT))


@cache
def _failures() -> Statement:
    return figures.by_failure(_failed(Given("since", DateTimeField())))


@cache
def _sent_by_day() -> Statement:
    since = Given("since", DateTimeField())
    return figures.by_day(
        FundingTransaction.objects.filter(pending_at__gte=since),
        sent_at="pending_at",
        completed=Q(status=FundingStatus.COMPLETED),
        moving=Q(status__in=IN_FLIGHT),
        failed=Q(status=FundingStatus.FAILED),
    )


@cache
def _returns() -> Statement:
    return compiled.union(compiled.sums(_debits(Given("now", DateTimeField())), **_counts()))


def worst_debit_returns(*, now: datetime, limit: int) -> list[DebitReturns]:
    """The debits and returns of the `limit` tenants with the most returns, most first."""
    came_back = _failed(now - RETURN_WINDOW).filter(returned=True, method=FundingMethod.ACH_DEBIT)
    counted = came_back.values("tenant_id").annotate(returns=Count("pk"))
    worst = [row["tenant_id"] for row in counted.order_by("-returns", "tenant_id")[:limit]]
    return _debit_returns_of(worst, now)


def debit_returns_of(*, tenant_id: str, now: datetime) -> DebitReturns:
    """The debits of one tenant within Nacha's window, and their returns."""
    return next(iter(_debit_returns_of([tenant_id], now)), DebitReturns(tenant_id=tenant_id))


def _debit_returns_of(tenant_ids: Sequence[str], now: datetime) -> list[DebitReturns]:
    rows = _debits(now).filter(tenant_id__in=tenant_ids).values("tenant_id")
    totals = rows.annotate(tenant_name=F("tenant__name"), **_counts())
    return [DebitReturns(**row) for row in totals.order_by("-returned", "tenant_id")]


def _debits(now: datetime | Given) -> QuerySet[FundingTransaction]:
    """ACH debits in the window of the day they were sent: a late return counts on the day of its
    debit."""
    return FundingTransaction.objects.filter(
        method=FundingMethod.ACH_DEBIT, pending_at__gte=now - RETURN_WINDOW
    )


def _failed(since: datetime | Given) -> QuerySet[FundingTransaction]:
    return FundingTransaction.objects.filter(status=FundingStatus.FAILED, failed_at__gte=since)


def _counts() -> dict[str, Count]:
    returned = Q(returned=True)
    return {
        "debits": Count("pk"),
        "unauthorized": Count("pk", filter=returned & _in_group(Group.UNAUTHORIZED)),
        "administrative": Count("pk", filter=returned & _in_group(Group.ADMINISTRATIVE)),
        "returned": Count("pk", filter=returned),
    }


def _in_group(group: Group) -> Q:
    return Q(return_code__in=[row.code for row in return_codes.ALL.values() if row.group == group])
