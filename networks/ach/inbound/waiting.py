"""What from banks waits for a person, for those on call."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Q

from networks.ach.inbound import lines
from networks.ach.inbound.deadlines import eastern_day
from networks.ach.models import InFile, InRecord, OutFile
from networks.ach.states import InFileStatus, RecordStatus


class Waiting(NamedTuple):
    """How many files and records lie in review, and how many of them past their last day."""

    in_review: int
    overdue: int


class AtLines(NamedTuple):
    """How many files of ours are not sent, and of how many rails files are not fetched, until a
    person mended what is in the way."""

    files: int
    lines: int


def at_lines() -> AtLines:
    """Two queries of few rows."""
    stuck = OutFile.objects.filter(stuck_at__isnull=False)
    return AtLines(stuck.count(), lines.in_trouble().count())


def count(*, now: datetime) -> Waiting:
    """Two queries, each by the index of what is in review."""
    records = InRecord.objects.filter(status=RecordStatus.REVIEW)
    found = records.aggregate(
        all=Count("pk"), overdue=Count("pk", filter=Q(due_on__lt=eastern_day(now)))
    )
    files = InFile.objects.filter(status=InFileStatus.REVIEW).count()
    return Waiting(found["all"] + files, found["overdue"])
