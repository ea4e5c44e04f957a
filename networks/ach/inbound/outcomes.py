"""What became of records from a bank, written down for many at once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from common.engine import arrays, sql
from networks.ach.inbound import due
from networks.ach.models import InRecord
from networks.ach.states import RECORD_STATES, RecordStatus

_NOTE_LENGTH = 200

_WRITE = """
UPDATE ach_inrecord AS record
SET status = given.status, entry_id = given.entry, answers_id = given.answers, note = given.note,
    may_dishonor = given.may_dishonor, due_on = given.due_on
FROM unnest(%(ids)s::text::bigint[], %(statuses)s::text::text[], %(entries)s::text::bigint[],
    %(answers)s::text::bigint[], %(notes)s::text::text[], %(flags)s::text::boolean[],
    %(days)s::text::date[])
    AS given (id, status, entry, answers, note, may_dishonor, due_on)
WHERE record.id = given.id AND record.status = 'new'
RETURNING record.id
"""


class Outcome(NamedTuple):
    """What became of one record: applied, or left to a person with what they may have to do."""

    record: InRecord
    status: RecordStatus
    note: str = ""
    entry_id: int | None = None
    answers_id: int | None = None
    may_dishonor: bool = False
    due_on: date | None = None


def applied(
    record: InRecord,
    *,
    entry_id: int | None,
    note: str = "",
    answers_id: int | None = None,
    dishonor_due: date | None = None,
) -> Outcome:
    """It was done. `dishonor_due` is set where our bank may still dishonor it."""
    return Outcome(
        record,
        RecordStatus.APPLIED,
        note=note,
        entry_id=entry_id,
        answers_id=answers_id,
        may_dishonor=dishonor_due is not None,
        due_on=dishonor_due,
    )


def review(
    record: InRecord,
    note: str,
    *,
    day: date,
    entry_id: int | None = None,
    answers_id: int | None = None,
    due_on: date | None = None,
) -> Outcome:
    """A person has to decide about it until `due_on`. `day` is when it came."""
    return Outcome(
        record,
        RecordStatus.REVIEW,
        note=note,
        entry_id=entry_id,
        answers_id=answers_id,
        due_on=due_on or due.of_record(record, day=day),
    )


def write(outcomes: Sequence[Outcome]) -> None:
    """Record what became of new records, whose rows the caller has locked."""
    values = {
        "ids": arrays.plain(each.record.pk for each in outcomes),
        "statuses": arrays.texts(each.status for each in outcomes),
        "entries": arrays.plain(each.entry_id for each in outcomes),
        "answers": arrays.plain(each.answers_id for each in outcomes),
        "notes": arrays.texts(each.note[:_NOTE_LENGTH] for each in outcomes),
        "flags": arrays.mixed(each.may_dishonor for each in outcomes),
        "days": arrays.mixed(each.due_on for each in outcomes),
    }
    written = sql.rows(_WRITE, values)
    if len(written) != len(outcomes):
        raise RuntimeError("a locked record changed under us")
    for each in outcomes:
        if not RECORD_STATES.allows(RecordStatus.NEW, each.status):
            raise RuntimeError("a new record is applied, or goes to a person")
