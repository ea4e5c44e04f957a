"""Up to when what a bank put there for us has been read: a debit is not final before its ordinary
returns can be known here.

A file counts as heard once it is applied. One that is set aside may hold returns, so it keeps
debits from being final until a person has dealt with it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from django.db.models import Count, Min, Q, QuerySet, Sum

from common.engine.compiled import Given
from networks.ach import schedule
from networks.ach.models import AchEntry, AchRail, InFile, RailLine
from networks.ach.models.entries import PRENOTE
from networks.ach.models.inbound import InFolder
from networks.ach.states import EntryStatus, InFileStatus

# What waits for longer than this is told to people.
LATE_AFTER = timedelta(minutes=15)
NEVER = datetime.min.replace(tzinfo=UTC)
_UNREAD = Q(
    status__in=(InFileStatus.STORED, InFileStatus.PARSED), next_attempt_at__isnull=False
) | Q(status=InFileStatus.REVIEW)


class Kept(NamedTuple):
    """Debits of a rail that are not final because nothing was heard: how many, their cents, and
    when the first of them was due."""

    rail: str
    number: int
    amount: int
    since: datetime


def final_until(*rails: str) -> dict[str, datetime]:
    """Up to which due time debits may be final, by rail: those given, or all. Two queries."""
    lines = RailLine.objects.filter(fetched_at__isnull=False)
    files = InFile.objects.filter(_UNREAD, folder=InFolder.INBOUND)
    if rails:
        lines, files = lines.filter(pk__in=rails), files.filter(rail__in=rails)
    unread = dict(files.order_by().values_list("rail").annotate(Min("received_at")))
    margin = schedule.returns_lie_there()
    heard = {
        line.pk: min(line.fetched_at, unread.get(line.pk, line.fetched_at)) + margin
        for line in lines
        if line.fetched_at is not None
    }
    return dict.fromkeys(rails, NEVER) | heard


def kept(*, now: datetime) -> list[Kept]:
    """What people have to know of, by rail. One query."""
    found = _kept(now).order_by("rail").values_list("rail")
    sums = found.annotate(Count("pk"), Sum("amount"), Min("final_due_at"))
    return [Kept(*each) for each in sums]


def rails_kept(*, now: datetime | Given) -> QuerySet[AchRail]:
    """The rails of `kept`."""
    return AchRail.objects.filter(pk__in=_kept(now).values("rail"))


def _kept(now: datetime | Given) -> QuerySet[AchEntry]:
    return AchEntry.objects.filter(
        Q(is_debit=True) | Q(purpose=PRENOTE),
        status=EntryStatus.ACCEPTED,
        final_due_at__lte=now - LATE_AFTER,
    )
