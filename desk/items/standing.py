"""How items stand, as pages show it: who works on each, and how many notes it has."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from desk import doers
from desk.items import assigning, notes
from desk.items.subjects import Subject
from desk.models import Assignment


@dataclass(frozen=True)
class Standing:
    """`who` works on it, empty where nobody does; `former` had it last and works on items no more.
    `number` is that of the last assignment, 0 without one."""

    number: int = 0
    who: str = ""
    is_mine: bool = False
    former: str = ""
    since: datetime | None = None
    notes: int = 0


def of_items(
    subjects: Collection[Subject], *, me: str, able: Mapping[str, str]
) -> dict[Subject, Standing]:
    """Each with its standing; `able` is from `people.able`. Four queries, none for none."""
    if not subjects:
        return {}
    last, counted = assigning.current(subjects), notes.counts(subjects)
    gone = {assigning.whose(row) for row in last.values()} - able.keys()
    names = {**doers.names_of(gone), **able} if gone - {assigning.NOBODY} else able
    return {
        subject: _standing(last.get(subject), counted.get(subject, 0), me, able, names)
        for subject in subjects
    }


def _standing(
    last: Assignment | None, count: int, me: str, able: Mapping[str, str], names: Mapping[str, str]
) -> Standing:
    if last is None or last.assignee_id is None:
        return Standing(number=last.number if last else 0, notes=count)
    is_able = last.assignee_id in able
    name = names.get(last.assignee_id, last.assignee_id)
    return Standing(
        number=last.number,
        who=name if is_able else "",
        is_mine=is_able and last.assignee_id == me,
        former="" if is_able else name,
        since=last.created_at,
        notes=count,
    )
