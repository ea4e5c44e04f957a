"""Money on its way, in and out, as the overview lists it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from typing import Any

from django.db.models import CharField, Q, QuerySet

from common.days import day_of
from common.engine.compiled_rows import Rows
from dashboard.funding.lines import funding_line
from dashboard.funding.methods import TEXTS as FUNDING_TEXTS
from dashboard.overview.unsettled import Unsettled, due_dates, unsettled
from dashboard.payments.lines import payment_line
from dashboard.payments.methods import TEXTS as PAYMENT_TEXTS
from dashboard.shell import addresses, stops
from dashboard.shell.badges import Badge
from dashboard.shell.stops import Stops
from funding import selectors as funding
from funding.models import FundingTransaction
from funding.states import FundingStatus
from payments import selectors as payments
from payments.models import Payment
from payments.states import PaymentStatus


@dataclass(frozen=True)
class Flight:
    """`amount` is in cents, negative on its way out."""

    href: str
    amount: int
    badge: Badge
    party: str
    expected_on: date | None
    at: datetime


@dataclass(frozen=True)
class OnItsWay:
    """The newest transfers under way, and what all of them come to, by when it is expected."""

    flights: list[Flight]
    unsettled: list[Unsettled]

    @property
    def waiting_in(self) -> int:
        """Cents of funding that waits for approval."""
        return sum(one.waiting for one in self.unsettled if one.way == "in")


def on_its_way(*, tenant_id: str, most: int, stopped: Stops, now: datetime) -> OnItsWay:
    """At most `most` transfers. Two queries."""
    coming = _coming_rows(most, is_stopped=bool(stopped.funding)).read(tenant_id=tenant_id)
    going = _going_rows(most, is_stopped=bool(stopped.payments)).read(tenant_id=tenant_id)
    found = [
        *(_coming(row, stops.BADGE if stopped.funding else None) for row in coming),
        *(_going(row, is_stopped=bool(stopped.payments)) for row in going),
    ]
    sums = [
        unsettled(rows[0].due_dates, way=way, today=day_of(now))
        for rows, way in ((coming, "in"), (going, "out"))
        if rows
    ]
    newest = sorted(found, key=lambda flight: flight.at, reverse=True)[:most]
    return OnItsWay(newest, sums)


@cache
def _coming_rows(most: int, *, is_stopped: bool) -> Rows[Any]:
    """The newest, each with the `due_dates` of all. `FundingLine.expected_on` says when a date is
    promised; this says the same to the database."""
    promised = Q(status__in=(FundingStatus.PENDING, FundingStatus.IN_TRANSIT))
    if not is_stopped:
        promised |= Q(status=FundingStatus.RESERVED, held_at=None)
    promised &= ~Q(method__in=FUNDING_TEXTS.undated())

    def build(tenant_id: str) -> QuerySet[Any]:
        rows = funding.in_flight(tenant_id=tenant_id)
        sums = due_dates(
            rows,
            column="expected_availability_date",
            promised=promised,
            waiting=Q(status=FundingStatus.AWAITING_CONFIRMATION),
        )
        return rows.annotate(due_dates=sums)[:most]

    return Rows(build, tenant_id=CharField())


@cache
def _going_rows(most: int, *, is_stopped: bool) -> Rows[Any]:
    """As `_coming_rows`, by `PaymentLine.expected_on`."""
    promised = Q(status=PaymentStatus.PROCESSING)
    if not is_stopped:
        free = Q(status=PaymentStatus.CREATED, held_at=None, held_back_at=None)
        promised |= free & ~payments.AWAITS_APPROVAL
    promised &= ~Q(method__in=PAYMENT_TEXTS.undated())

    def build(tenant_id: str) -> QuerySet[Any]:
        rows = payments.open_payments(tenant_id=tenant_id)
        sums = due_dates(
            rows,
            column="expected_arrival_date",
            promised=promised,
            waiting=payments.AWAITS_APPROVAL,
        )
        return rows.annotate(due_dates=sums)[:most]

    return Rows(build, tenant_id=CharField())


def _coming(row: FundingTransaction, stopped: Badge | None) -> Flight:
    line = funding_line(row, stopped=stopped)
    href = addresses.of_row("dashboard:funding_detail", line.id)
    return Flight(href, line.amount, line.badge, f"from {line.source}", line.expected_on, line.at)


def _going(row: Payment, *, is_stopped: bool) -> Flight:
    line = payment_line(row, is_stopped=is_stopped)
    href = addresses.of_row("dashboard:payment_detail", line.id)
    return Flight(href, -line.amount, line.badge, f"to {line.to}", line.expected_on, line.at)
