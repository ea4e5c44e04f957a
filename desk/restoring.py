"""After an older backup was restored: what an operator does about a rail's files, audited."""

from __future__ import annotations

from datetime import datetime

from desk import doers
from desk.doers import Doer
from networks.ach import rails
from networks.ach.models import OutFile
from networks.ach.restoring import taking_over
from networks.ach.restoring.comparing import Comparison, Unknown


def take_over(
    rail: str, found: Comparison, *, reason: str, doer: Doer, now: datetime
) -> list[OutFile]:
    """Set the trace counter, and write down every file that the bank has. Whoever is stopped in
    between does it again. Raises StaffRefusal."""
    if found.next_trace:
        odfi = rails.current(rail).parsed.odfi
        taking_over.set_counter(odfi, found.next_trace)
        doers.record(
            doer, "rail.traces_set", rail, now=now, note=reason, odfi=odfi, next=found.next_trace
        )
    return [_one(rail, each, reason, doer, now) for each in found.unknown]


def _one(rail: str, found: Unknown, reason: str, doer: Doer, now: datetime) -> OutFile:
    file = taking_over.take_over(rail, found, by=doer.name, now=now)
    doers.record(
        doer,
        "ach_file.taken_over",
        file.pk,
        now=now,
        note=reason,
        name=found.file.name,
        sha256=found.file.sha256,
        entries=len(found.again),
        lost=len(found.lost),
    )
    return file
