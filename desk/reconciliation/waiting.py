"""What stands on the suspense account and waits for people, in figures and line by line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Count, Q, QuerySet, Sum

from balance.kinds import PostingType
from reconciliation import suspense
from reconciliation.figures import Sums
from reconciliation.models import BookedLine, Clearing
from reconciliation.states import ClearingStatus

if TYPE_CHECKING:
    from balance.models import Adjustment


@dataclass(frozen=True, kw_only=True)
class InSuspense:
    """Lines of banks in suspense, and adjustments that no line of a bank explains: how many, and
    the cents that came or were credited (`credits`), and that left or were debited (`debits`)."""

    lines: Sums
    adjustments: Sums


@dataclass(frozen=True, kw_only=True)
class SuspenseLine:
    """A line in suspense, and the proposal that waits for a second person, if there is one."""

    row: BookedLine
    proposal: Clearing | None


def in_suspense() -> InSuspense:
    """Over all rails. Two queries."""
    return InSuspense(
        lines=_sums(suspense.lines(), Q(amount__gt=0)),
        adjustments=_sums(suspense.unexplained_adjustments(), Q(type=PostingType.CREDIT)),
    )


def with_proposals(found: Sequence[BookedLine]) -> list[SuspenseLine]:
    """Each line with what was proposed of it, also as the other line of an offset."""
    proposed = Clearing.objects.filter(status=ClearingStatus.PROPOSED)
    proposals: dict[str, Clearing] = {}
    for each in proposed.filter(Q(booked__in=found) | Q(other__in=found)):
        proposals[each.booked_id] = each
        if each.other_id:
            proposals[each.other_id] = each
    return [SuspenseLine(row=row, proposal=proposals.get(row.pk)) for row in found]


def _sums(rows: QuerySet[BookedLine] | QuerySet[Adjustment], credits: Q) -> Sums:
    found = rows.order_by().aggregate(
        lines=Count("pk"),
        credits=Sum("amount", filter=credits, default=0),
        debits=Sum("amount", filter=~credits, default=0),
    )
    return Sums(found["lines"], int(found["credits"]), abs(int(found["debits"])))
