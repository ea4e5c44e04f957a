"""Return rates of an originator, and the stop of its debits when they reach a level.

Debits of 60 days by the day on which they were sent, beside the levels that Nacha watches
(Nacha Operating Rules, 2.17.2): a late return counts against the time when the debit was sent.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple

import structlog
from django.db.models import Count, Q

from common.engine.lookups import one_of
from networks import return_codes
from networks.ach.models import AchEntry, Originator
from networks.ach.models.entries import PRENOTE
from networks.ach.states import EntryStatus
from networks.ach.terms import RailTerms
from networks.return_codes import Group

log = structlog.get_logger(__name__)

WINDOW = timedelta(days=60)
NEAR_PERCENT = 70
_SENT = (EntryStatus.SENT, EntryStatus.ACCEPTED, EntryStatus.FINAL, EntryStatus.RETURNED)


class Level(NamedTuple):
    """A rate that must not be reached, in returns of 1000 debits."""

    name: str
    per_mille: int


UNAUTHORIZED = Level("unauthorized", 5)
ADMINISTRATIVE = Level("administrative", 30)
OVERALL = Level("overall", 150)


class Counted(NamedTuple):
    """Debits of an originator within the window, and how many came back. `since` is when the window
    begins: after a person let debits go on, it begins again."""

    originator_id: str
    since: datetime
    debits: int
    unauthorized: int
    administrative: int
    returned: int

    @property
    def shares(self) -> tuple[tuple[Level, int, int], ...]:
        """Each level with its returns, and how much of the level they use, in percent."""
        numbers = (
            (UNAUTHORIZED, self.unauthorized),
            (ADMINISTRATIVE, self.administrative),
            (OVERALL, self.returned),
        )
        return tuple(
            (level, number, _percent_of_level(level, number, self.debits))
            for level, number in numbers
        )


def _percent_of_level(level: Level, returns: int, debits: int) -> int:
    return returns * 100_000 // (debits * level.per_mille) if debits else 0


def count(originator: Originator, *, now: datetime) -> Counted:
    """The debits of an originator and their returns. One query."""
    since = max(now - WINDOW, originator.debits_released_at or now - WINDOW)
    debits = AchEntry.objects.filter(
        originator=originator,
        is_debit=True,
        status__in=_SENT,
        sent_at__gte=since,
    ).exclude(purpose=PRENOTE)
    back = Q(status=EntryStatus.RETURNED) & ~Q(code=return_codes.TAKEN_BACK)
    found = debits.aggregate(
        debits=Count("pk"),
        unauthorized=Count("pk", filter=back & Q(code__in=_codes(Group.UNAUTHORIZED))),
        administrative=Count("pk", filter=back & Q(code__in=_codes(Group.ADMINISTRATIVE))),
        returned=Count("pk", filter=back),
    )
    return Counted(originator.pk, since, **found)


def judge(originator_ids: Collection[str], *, terms: RailTerms, now: datetime) -> None:
    """Stop the debits of each of these originators whose returns have reached a level.

    Too few debits say nothing: then, and near a level, it is only logged.
    """
    rows = Originator.objects.filter(one_of("pk", list(originator_ids)), debits_stopped_at=None)
    for originator in rows.order_by("pk"):
        counted = count(originator, now=now)
        level, returns, percent = max(counted.shares, key=lambda share: share[2])
        if percent < NEAR_PERCENT:
            continue
        log.warning(
            "ach_return_rate_high",
            originator=originator.pk,
            level=level.name,
            returns=returns,
            debits=counted.debits,
        )
        if percent >= 100 and counted.debits >= terms.rates_judged_from:  # percent
            _stop(originator, level, returns, counted.debits, now)


def release(*, originator_id: str, now: datetime) -> bool:
    """Let debits go on, because a person decided so; false if they were not stopped. From now on
    the originator is judged by what is sent after this."""
    stopped = Originator.objects.filter(pk=originator_id, debits_stopped_at__isnull=False)
    return bool(
        stopped.update(debits_stopped_at=None, debits_stopped_why="", debits_released_at=now)
    )


def _stop(originator: Originator, level: Level, returns: int, debits: int, now: datetime) -> None:
    why = (
        f"{returns} of {debits} debits came back ({level.name}); the level is"
        f" {level.per_mille / 10:g} %"
    )
    going_on = Originator.objects.filter(pk=originator.pk, debits_stopped_at=None)
    if going_on.update(debits_stopped_at=now, debits_stopped_why=why):
        log.error("ach_debits_stopped", originator=originator.pk, level=level.name)


def _codes(group: Group) -> list[str]:
    return [code for code, row in return_codes.ALL.items() if row.group is group]
