"""What a line in suspense may have been: rows of its amount that nothing was cleared with, and that
nobody proposes. `clearing` decides; these are what it would take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import QuerySet

from balance.kinds import PostingType
from reconciliation import expecting, suspense
from reconciliation.models import BookedLine, Clearing, ExpectedLine
from reconciliation.states import ClearingStatus

if TYPE_CHECKING:
    from balance.models import Adjustment


def offsets(booked: BookedLine) -> QuerySet[BookedLine]:
    """Other lines in suspense of the rail that come to zero with this one, the oldest first."""
    rows = suspense.lines().filter(
        amount=-booked.amount,
        line__statement__account__rail=booked.line.statement.account.rail_id,
    )
    proposed = _proposed()
    return (
        rows.exclude(pk=booked.pk)
        .exclude(pk__in=proposed.values("booked_id"))
        .exclude(pk__in=proposed.exclude(other=None).values("other_id"))
        .select_related("line__statement__account")
    )


def adjustments(booked: BookedLine) -> QuerySet[Adjustment]:
    """Adjustments of live tenants by the same amount, the oldest first."""
    kind = PostingType.CREDIT if booked.amount > 0 else PostingType.DEBIT
    rows = suspense.unexplained_adjustments().filter(type=kind, amount=abs(booked.amount))
    return rows.exclude(pk__in=_proposed().values("adjustment_id")).select_related("tenant")


def transfers(booked: BookedLine) -> QuerySet[ExpectedLine]:
    """Lines of the books of the rail by the same amount that no statement shows."""
    named = _proposed().exclude(expected_line=None).values("expected_line")
    return (
        ExpectedLine.objects.filter(
            rail=booked.line.statement.account.rail_id, amount=booked.amount, match=None
        )
        .exclude(step__in=expecting.OWN_STEPS)
        .exclude(line__in=named)
    )


def _proposed() -> QuerySet[Clearing]:
    return Clearing.objects.filter(status=ClearingStatus.PROPOSED)
