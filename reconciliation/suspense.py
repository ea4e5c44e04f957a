"""What lies in suspense, and which adjustments of tenants no line of a bank explains.

Both stand on the operator's suspense account until somebody says what they are: the first because
nobody knows what a bank's line was, the second because nobody knows where the money is.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet, Sum

from balance import selectors as ledger
from reconciliation import accounts
from reconciliation.figures import NOTHING, Sums
from reconciliation.models import BookedAs, BookedLine, Clearing, ClearingKind
from reconciliation.states import ClearingStatus

if TYPE_CHECKING:
    from balance.models import Adjustment

# Banks take a credit back for some days without asking. Until then two people say what it was.
TIME_TO_CLEAR = timedelta(days=2)


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What a rail has in suspense. `since` is when its oldest line was booked; None without any."""

    rail: str
    sums: Sums
    since: datetime | None

    def age(self, now: datetime) -> timedelta:
        """Of the oldest line; nothing where there is none."""
        return now - self.since if self.since else timedelta()

    def is_late(self, now: datetime) -> bool:
        """Whether the oldest line should be cleared by now."""
        return self.age(now) > TIME_TO_CLEAR


def lines() -> QuerySet[BookedLine]:
    """Lines in suspense, the oldest first."""
    approved = Clearing.objects.filter(status=ClearingStatus.APPROVED)
    rows = BookedLine.objects.filter(
        ~Exists(approved.filter(booked=OuterRef("pk"))),
        ~Exists(approved.filter(other=OuterRef("pk"))),
        booked_as=BookedAs.SUSPENSE,
    )
    return rows.order_by("booked_at", "pk")


def standings() -> list[Standing]:
    """What each rail with a settlement account has in suspense. Two queries."""
    by_rail = (
        lines()
        .order_by()
        .values_list("line__statement__account__rail")
        .annotate(
            count=Count("pk"),
            credits=Sum("amount", filter=Q(amount__gt=0), default=0),
            debits=Sum("amount", filter=Q(amount__lt=0), default=0),
            since=Min("booked_at"),
        )
    )
    found = {
        rail: (Sums(count, int(came), -int(left)), since)
        for rail, count, came, left, since in by_rail
    }
    standings = []
    for account in accounts.in_force():
        sums, since = found.get(account.rail_id, (NOTHING, None))
        standings.append(Standing(rail=account.rail_id, sums=sums, since=since))
    return standings


def unexplained_adjustments() -> QuerySet[Adjustment]:
    """Adjustments of live tenants that no line of a bank was cleared with, the oldest first."""
    cleared = Clearing.objects.filter(kind=ClearingKind.ADJUSTMENT, status=ClearingStatus.APPROVED)
    return ledger.live_adjustments().exclude(pk__in=cleared.values("adjustment_id"))
