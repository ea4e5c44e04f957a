"""The staff home: where the money is, what went wrong today, and whether everything runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest

from balance import figures as ledger
from balance.figures import Totals
from common.clock import utc_now
from common.days import last_days, start_of
from common.figures import FailureTotal, StatusTotal
from desk import return_rates
from desk.home.attention import (
    Attention,
    of_ach,
    of_decisions,
    of_ledger,
    of_queues,
    of_returns,
    of_seals,
)
from desk.home.charts import DayChart, day_chart
from desk.ledger.checks import CheckLine, check_line
from desk.ledger.seals import seal_line
from desk.queues.lines import QueueLine, queue_lines
from desk.return_rates import Meter, TenantMeters
from funding import figures as funding
from funding.states import IN_FLIGHT, FundingStatus
from networks import return_codes
from payments import figures as payments
from payments.states import OPEN, PaymentStatus
from webhooks import figures as webhooks
from webhooks.figures import WebhookHealth

SEES_HOME = "tenants.view_tenant"
CHART_DAYS = 14
_WORST_TENANTS = 5
_PAYMENT_ORDER = (PaymentStatus.WAITING_FOR_FUNDS, *OPEN)


@dataclass(frozen=True)
class FlightLine:
    """Money on its way in one status."""

    status: str
    label: str
    count: int
    cents: int


@dataclass(frozen=True)
class FailureLine:
    """What failed today for one reason, and what the code means."""

    code: str
    title: str
    meaning: str
    count: int
    cents: int


@dataclass(frozen=True)
class Home:
    """Everything the page shows."""

    attention: list[Attention]
    totals: Totals | None
    funding: list[FlightLine]
    payments: list[FlightLine]
    funding_failures: list[FailureLine]
    payment_failures: list[FailureLine]
    meters: tuple[Meter, ...]
    worst: list[TenantMeters]
    webhooks: WebhookHealth
    queues: list[QueueLine]
    check: CheckLine
    funding_chart: DayChart
    payment_chart: DayChart


def callback(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Give unfold the values of the start page; it calls this when somebody opens the desk."""
    if request.user.has_perm(SEES_HOME):
        context["home"] = home(now=utc_now())
    return context


def home(*, now: datetime) -> Home:
    """Some twenty queries, none of which reads more than what is open or recent."""
    days = last_days(now, CHART_DAYS)
    since, today = start_of(days[0]), start_of(days[-1])
    totals, check = ledger.totals(), check_line(ledger.last_check(), now)
    meters, worst, queues = (
        return_rates.meters(funding.debit_returns(now=now)),
        _worst(now),
        queue_lines(now),
    )
    return Home(
        attention=[
            *of_decisions(),
            *of_ach(now=now),
            *of_ledger(check, totals),
            *of_seals(seal_line(now)),
            *of_returns(meters, worst),
            *of_queues(queues),
        ],
        totals=totals,
        funding=_flight(funding.in_flight(), [FundingStatus(status) for status in IN_FLIGHT]),
        payments=_flight(payments.in_flight(), _PAYMENT_ORDER),
        funding_failures=_failures(funding.failures(since=today)),
        payment_failures=_failures(payments.failures(since=today)),
        meters=meters,
        worst=worst,
        webhooks=webhooks.health(now=now),
        queues=queues,
        check=check,
        funding_chart=day_chart(funding.sent_by_day(since=since), days=days),
        payment_chart=day_chart(payments.sent_by_day(since=since), days=days),
    )


def _flight(
    totals: list[StatusTotal], order: Sequence[FundingStatus | PaymentStatus]
) -> list[FlightLine]:
    known = {total.status: total for total in totals}
    return [
        FlightLine(
            status=status,
            label=str(status.label),
            count=known[status].count if status in known else 0,
            cents=known[status].cents if status in known else 0,
        )
        for status in order
    ]


def _failures(totals: list[FailureTotal]) -> list[FailureLine]:
    return [failure_line(total) for total in totals]


def failure_line(total: FailureTotal) -> FailureLine:
    """Explain a failure: network codes in the words of their table, our codes in their own."""
    known = return_codes.ALL.get(total.code)
    return FailureLine(
        code=total.code,
        title=known.title if known else total.code.replace("_", " ").capitalize(),
        meaning=f"{known.meaning} {known.advice}" if known else total.message,
        count=total.count,
        cents=total.cents,
    )


def _worst(now: datetime) -> list[TenantMeters]:
    found = funding.worst_debit_returns(now=now, limit=4 * _WORST_TENANTS)
    ranked = [return_rates.tenant_meters(counted) for counted in found]
    ranked.sort(key=lambda tenant: -tenant.worst.share)
    return ranked[:_WORST_TENANTS]
