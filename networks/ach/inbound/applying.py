"""Applies the records of a file that was read: each once, a thousand in a transaction.

Whoever dies is followed by somebody who goes on with the records that are still new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from types import MappingProxyType

from django.db import transaction

from networks.ach.inbound import answers, changes, outcomes, rates, returns, surveying
from networks.ach.inbound.deadlines import eastern_day
from networks.ach.inbound.outcomes import Outcome, review
from networks.ach.models import AchEntry, AchEvent, InFile, InRecord
from networks.ach.models.events import AchEventKind
from networks.ach.models.inbound import RecordKind
from networks.ach.states import IN_FILE_STATES, EntryStatus, InFileStatus, RecordStatus
from networks.ach.terms import RailTerms

RECORDS_TOGETHER = 1_000


@dataclass
class _Run:
    """What the applying of some records of one file needs, and what it comes to."""

    file: InFile
    terms: RailTerms
    now: datetime
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def day(self) -> date:
        return eastern_day(self.file.received_at)


def apply(
    file: InFile,
    *,
    terms: RailTerms,
    is_over: Callable[[], bool] = lambda: False,
    now: datetime,
) -> bool:
    """Apply all new records of a `parsed` file; false if the time was over before.

    Raises common.crypto.Undecryptable.
    """
    while _apply_some(_Run(file, terms, now)):
        if is_over():
            return False
    back = AchEntry.objects.filter(records__file=file, status=EntryStatus.RETURNED)
    originators = set(back.values_list("originator_id", flat=True).distinct())
    is_done = not surveying.needs_person(file.faults)
    status = InFileStatus.APPLIED if is_done else InFileStatus.REVIEW
    with transaction.atomic():
        rates.judge(originators, terms=terms, now=now)
        IN_FILE_STATES.advance(file, status, applied_at=now)
    return True


@transaction.atomic
def _apply_some(run: _Run) -> int:
    new = InRecord.objects.filter(file=run.file, status=RecordStatus.NEW).order_by("id")
    records = list(new.select_for_update(no_key=True)[:RECORDS_TOGETHER])
    for take, of_one_kind in _in_runs(records):
        take(run, of_one_kind)
    if run.outcomes:
        outcomes.write(run.outcomes)
    return len(records)


Take = Callable[[_Run, Sequence[InRecord]], None]


def _in_runs(records: Iterable[InRecord]) -> list[tuple[Take, list[InRecord]]]:
    """The records in their order, those together that one function takes."""
    runs: list[tuple[Take, list[InRecord]]] = []
    for record in records:
        take = _TAKEN_BY.get(RecordKind(record.kind), _other)
        if runs and runs[-1][0] is take:
            runs[-1][1].append(record)
        else:
            runs.append((take, [record]))
    return runs


def _returns(run: _Run, records: Sequence[InRecord]) -> None:
    run.outcomes += returns.apply(records, rail_id=run.file.rail_id, day=run.day, now=run.now)


def _answers(run: _Run, records: Sequence[InRecord]) -> None:
    run.outcomes += answers.apply(records, rail_id=run.file.rail_id, day=run.day, now=run.now)


def _changes(run: _Run, records: Sequence[InRecord]) -> None:
    run.outcomes += changes.apply(
        records,
        rail_id=run.file.rail_id,
        day=run.day,
        at_once=run.terms.apply_changes,
        now=run.now,
    )


def _received(run: _Run, records: Sequence[InRecord]) -> None:
    """Money that nobody asked for: written down, and left to a person. Nobody waits for word of
    it."""
    AchEvent.objects.bulk_create(
        [
            AchEvent(
                rail_id=run.file.rail_id,
                record=record,
                kind=AchEventKind.RECEIVED,
                reason="money that we did not ask for",
                amount=record.amount,
                settlement_date=record.settlement_day,
                trace_number=record.rdfi_trace,
                reference=record.rdfi_trace,
                occurred_at=run.now,
                due_at=run.now,
                acknowledged=True,
            )
            for record in records
        ]
    )
    note = "money that we did not ask for: find out whose it is, or have the bank send it back"
    run.outcomes += [review(record, note, day=run.day) for record in records]


def _left(note: str, run: _Run, records: Sequence[InRecord]) -> None:
    run.outcomes += [review(record, note, day=run.day) for record in records]


_other = partial(_left, "an entry that is no answer to one of ours")
_dishonor = partial(_left, "a dishonor of a return, which we never send: ask the bank")
_refusal = partial(_left, "a refusal of a change, which we never send: ask the bank")

_TAKEN_BY: Mapping[RecordKind, Take] = MappingProxyType(
    {
        RecordKind.RETURN: _returns,
        RecordKind.NOC: _changes,
        RecordKind.CONTESTED: _answers,
        RecordKind.CORRECTED_RETURN: _answers,
        RecordKind.RECEIVED: _received,
        RecordKind.DISHONORED: _dishonor,
        RecordKind.REFUSED_NOC: _refusal,
    }
)
