"""Money on its way, in and out, as the overview lists it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from django.urls import reverse

from dashboard.funding.lines import funding_line
from dashboard.payments.lines import payment_line
from dashboard.shell import stops
from dashboard.shell.badges import Badge
from dashboard.shell.stops import Stops
from funding import selectors as funding
from funding.models import FundingTransaction
from payments import selectors as payments
from payments.models import Payment


@dataclass(frozen=True)
class Flight:
    """`amount` is in cents, negative on its way out."""

    href: str
    amount: int
    badge: Badge
    party: str
    expected_on: date | None
    at: datetime


def flights(*, tenant_id: str, most: int, stopped: Stops) -> list[Flight]:
    """The newest transfers under way. Two queries."""
    coming = funding.in_flight(tenant_id=tenant_id)[:most]
    going = payments.open_payments(tenant_id=tenant_id)[:most]
    found = [
        *(_coming(row, stops.BADGE if stopped.funding else None) for row in coming),
        *(_going(row, is_stopped=bool(stopped.payments)) for row in going),
    ]
    return sorted(found, key=lambda flight: flight.at, reverse=True)[:most]


def _coming(row: FundingTransaction, stopped: Badge | None) -> Flight:
    line = funding_line(row, stopped=stopped)
    href = reverse("dashboard:funding_detail", args=(line.id,))
    return Flight(href, line.amount, line.badge, f"from {line.source}", line.expected_on, line.at)


def _going(row: Payment, *, is_stopped: bool) -> Flight:
    line = payment_line(row, is_stopped=is_stopped)
    href = reverse("dashboard:payment_detail", args=(line.id,))
    return Flight(href, -line.amount, line.badge, f"to {line.to}", line.expected_on, line.at)
