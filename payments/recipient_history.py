"""What was paid to one recipient, who approved it, and what its bank corrected."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q, QuerySet, Sum

from common import days
from payments.models import Payment, PaymentConfirmation, Recipient, RecipientVersion
from payments.states import OPEN, PaymentStatus

LAST_DAYS = 30
_COMPLETED = Q(status=PaymentStatus.COMPLETED)
_CAME_BACK = Q(status__in=(PaymentStatus.FAILED, PaymentStatus.RETURNED))
_UNDERWAY = Q(status__in=(*OPEN, PaymentStatus.WAITING_FOR_FUNDS))


@dataclass(frozen=True)
class Total:
    """How many payments, and their cents."""

    count: int
    cents: int


@dataclass(frozen=True)
class Totals:
    """Completed payments of the last 30 Eastern days, today included, of this Eastern year and of
    all time; those that have not ended yet; those that failed or came back."""

    last_days: Total
    this_year: Total
    ever: Total
    underway: Total
    came_back: Total


def payments_to(recipient: Recipient) -> QuerySet[Payment]:
    """The payments to a saved recipient, in no order."""
    return Payment.objects.filter(tenant_id=recipient.tenant_id, recipient_id=recipient.pk)


def totals(recipient: Recipient, *, now: datetime) -> Totals:
    """What was paid to it. One query, which reads its payments."""
    first_day = days.last_days(now, LAST_DAYS)[0]
    year = days.day_of(now).replace(month=1, day=1)
    parts = {
        "last_days": _COMPLETED & Q(completed_at__gte=days.start_of(first_day)),
        "this_year": _COMPLETED & Q(completed_at__gte=days.start_of(year)),
        "ever": _COMPLETED,
        "underway": _UNDERWAY,
        "came_back": _CAME_BACK,
    }
    counts = {f"{name}_count": Count("pk", filter=part) for name, part in parts.items()}
    sums = {f"{name}_cents": Sum("amount", filter=part, default=0) for name, part in parts.items()}
    found = payments_to(recipient).aggregate(**counts, **sums)
    return Totals(**{name: Total(found[f"{name}_count"], found[f"{name}_cents"]) for name in parts})


def approvals(recipient: Recipient) -> QuerySet[PaymentConfirmation]:
    """The approvals that were asked for of payments to it, newest first."""
    rows = PaymentConfirmation.objects.filter(
        tenant_id=recipient.tenant_id, payment__recipient_id=recipient.pk
    )
    return rows.order_by("-created_at", "-pk")


def versions(recipient: Recipient) -> QuerySet[RecipientVersion]:
    """Its details before and after each correction by its bank, oldest first; none where there was
    no correction."""
    return RecipientVersion.objects.filter(recipient=recipient).order_by("number")
