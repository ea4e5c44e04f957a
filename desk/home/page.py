"""The staff home: where the money is, what went wrong today, and whether everything runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from balance import figures as ledger
from balance.figures import Totals
from common.clock import utc_now
from common.days import last_days, start_of
from common.figures import FailureTotal, StatusTotal
from desk import return_rates
from desk.home.attention import (
    Attention,
    of_ach,
    of_coverage,
    of_days,
    of_decisions,
    of_failing,
    of_instant,
    of_ledger,
    of_positions,
    of_proofs,
    of_queues,
    of_reader,
    of_returns,
    of_seals,
    of_suspense,
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
_FUNDING = "admin:funding_fundingtransaction_changelist"
_PAYMENTS = "admin:payments_payment_changelist"
_APPROVALS = "admin:payments_paymentconfirmation_changelist"
_FUNDING_ROWS = tuple((status, str(FundingStatus(status).label)) for status in IN_FLIGHT)
_PAYMENT_ROWS = (
    (payments.NEEDS_APPROVAL, "Needs approval"),
    *((status, str(status.label)) for status in (PaymentStatus.WAITING_FOR_FUNDS, *OPEN)),
)


@dataclass(frozen=True)
class FlightLine:
    """Money on its way in one status. `href` leads to the list of it."""

    status: str
    label: str
    count: int
    cents: int
    href: str


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
        now = utc_now()
        context["own"] = list(of_reader(str(request.user.pk), now=now))
        context["home"] = home(now=now)
    return context


def home(*, now: datetime) -> Home:
    """Some twenty queries, most compiled once; none reads more than what is open or recent."""
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
            *of_positions(),
            *of_instant(),
            *of_days(now=now),
            *of_suspense(now=now),
            *of_proofs(now=now),
            *of_coverage(),
            *of_failing(now=now),
            *of_ledger(check, totals),
            *of_seals(seal_line(now)),
            *of_returns(meters, worst),
            *of_queues(queues),
        ],
        totals=totals,
        funding=_flight(funding.in_flight(), _FUNDING_ROWS, _FUNDING),
        payments=_flight(payments.in_flight(), _PAYMENT_ROWS, _PAYMENTS),
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
    totals: list[StatusTotal], rows: Sequence[tuple[str, str]], address: str
) -> list[FlightLine]:
    """One line for each status of `rows` with its label, in their order."""
    known = {total.status: total for total in totals}
    return [
        FlightLine(
            status=status,
            label=label,
            count=known[status].count if status in known else 0,
            cents=known[status].cents if status in known else 0,
            href=_list_of(status, address),
        )
        for status, label in rows
    ]


def _list_of(status: str, address: str) -> str:
    """The list of these transfers; of what needs approval, which is no status of a payment, the
    list of the open approvals."""
    if status == payments.NEEDS_APPROVAL:
        return f"{reverse(_APPROVALS)}?decision__exact=open"
    return f"{reverse(address)}?status__exact={status}"


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
