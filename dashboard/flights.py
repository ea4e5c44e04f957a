"""Money on its way, in and out, as the overview lists it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from django.urls import reverse

from dashboard.context import Badge, funding_line
from dashboard.payment_lines import payment_line
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


def flights(*, tenant_id: str, most: int) -> list[Flight]:
    """The newest ones. Two queries."""
    coming = funding.in_flight(tenant_id=tenant_id)[:most]
    going = payments.open_payments(tenant_id=tenant_id)[:most]
    found = [*map(_coming, coming), *map(_going, going)]
    return sorted(found, key=lambda flight: flight.at, reverse=True)[:most]


def _coming(row: FundingTransaction) -> Flight:
    line = funding_line(row)
    href = reverse("dashboard:funding_detail", args=(line.id,))
    return Flight(href, line.amount, line.badge, f"from {line.source}", line.expected_on, line.at)


def _going(row: Payment) -> Flight:
    line = payment_line(row)
    href = reverse("dashboard:payment_detail", args=(line.id,))
    return Flight(href, -line.amount, line.badge, f"to {line.to}", line.expected_on, line.at)
