"""What those on call watch of files to banks; each figure by an index of what is open."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from django.db.models import Count

from networks.ach.freezing import MISSED_ALARM
from networks.ach.inbound import hearing
from networks.ach.models import AchEntry, OutFile, RailSwitch
from networks.ach.states import FileStatus
from networks.ach.terms import AckFormat

_NOT_SENT = (FileStatus.BUILDING, FileStatus.BUILT, FileStatus.HELD, FileStatus.RELEASED)


class OnTheWay(NamedTuple):
    """`left_out` counts waiting entries by rail and by why the last file left them out, `stopped`
    the switches that are engaged by rail and part. `late` files are not sent and hold entries that
    have missed two cut-offs or more; `unanswered` ones should have been acknowledged. `not_final`
    counts debits by rail that are due to be final, before what the bank has for us was read."""

    left_out: dict[tuple[str, str], int]
    stopped: dict[tuple[str, str], int]
    late: int
    unanswered: int
    not_final: dict[str, int]


def on_the_way(*, now: datetime) -> OnTheWay:
    """Five queries."""
    waiting = AchEntry.objects.exclude(waits_for="").order_by()
    engaged = RailSwitch.objects.filter(released_at=None).order_by()
    sent = OutFile.objects.filter(status=FileStatus.SENT, acknowledgment_due_at__lte=now)
    return OnTheWay(
        left_out={
            (rail, why): count
            for rail, why, count in waiting.values_list("rail", "waits_for").annotate(Count("pk"))
        },
        stopped={
            (rail, part): count
            for rail, part, count in engaged.values_list("rail", "part").annotate(Count("pk"))
        },
        late=OutFile.objects.filter(status__in=_NOT_SENT, missed__gte=MISSED_ALARM).count(),
        unanswered=sent.exclude(version__terms__ack_format=AckFormat.NONE.value).count(),
        not_final={kept.rail: kept.number for kept in hearing.kept(now=now)},
    )
