"""Returns of entries that we are taking back, and of the entries by which we do (decision 0147)."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from common.engine.lookups import one_of
from networks import return_codes
from networks.ach import telling
from networks.ach.models import AchEntry, AchReversal
from networks.ach.states import EntryStatus, ReversalStatus
from networks.base import EventKind, Purpose

ON_ITS_WAY = (
    "a reversal of this entry is on its way: dishonor the return (R62); if the reversal comes"
    " back, match it"
)
CAME_BACK = (
    "our reversal came back after it counted: its original stays returned; match it, and settle"
    " with the tenant"
)
_OVER = frozenset((EntryStatus.REJECTED, EntryStatus.RETURNED, EntryStatus.WITHDRAWN))


def stop(entry_ids: Collection[int], *, now: datetime) -> set[int]:
    """Withdraw the reversals of entries that come back, where they are in no file yet. Gives the
    entries whose reversals have left: one of the two ways of their money has to be stopped.

    The caller has locked the entries, so that no reversal of them is taken meanwhile.
    """
    left = set()
    live = AchReversal.objects.filter(
        one_of("entry_id", list(entry_ids)), status=ReversalStatus.APPROVED
    )
    for reversal in live.order_by("pk"):
        sent = AchEntry.objects.filter(instruction_id=reversal.pk)
        row = sent.exclude(status=EntryStatus.REQUEUED).first()
        if row is not None and row.status not in _OVER and not _is_withdrawn(row, now):
            left.add(reversal.entry_id)
    return left


def effective(entries: Collection[AchEntry]) -> set[int]:
    """Those of these locked entries that are reversals by which books were turned back."""
    by_id = {each.instruction_id: each.pk for each in entries if each.purpose == Purpose.REVERSAL}
    done = AchReversal.objects.filter(one_of("pk", list(by_id)), status=ReversalStatus.DONE)
    return {by_id[each] for each in done.values_list("pk", flat=True)} if by_id else set()


def _is_withdrawn(row: AchEntry, now: datetime) -> bool:
    ended = telling.ended(
        {row.pk: return_codes.WITHDRAWN},
        status=EntryStatus.WITHDRAWN,
        kind=EventKind.REJECTED,
        sources=[EntryStatus.WAITING],
        now=now,
    )
    return bool(ended)
