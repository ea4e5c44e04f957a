"""Who works on an item. Each change is a row more, and the last one holds."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from functools import cache

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet, TextField

from common.database.constraints import violated
from common.days import when
from common.engine import compiled
from common.engine.compiled import Given, Statement
from common.engine.lookups import one_of
from common.errors import StaffRefusal
from desk import doers
from desk.doers import Doer
from desk.items import people
from desk.items.subjects import Item, Subject
from desk.models import Assignment, ItemKind

NOBODY = ""
_ONE_PER_NUMBER = "one_assignment_per_number"


class AssignedMeanwhile(StaffRefusal):
    code = "item_assigned_meanwhile"
    title = "Somebody was faster"
    advice = "Look at it again, then decide."


class CannotWorkOnIt(StaffRefusal):
    code = "item_not_for_them"
    title = "They cannot work on it"
    advice = "Choose somebody whose role opens its page."


@transaction.atomic
def assign(item: Item, *, to: str, seen: int, doer: Doer, now: datetime) -> None:
    """Give the item to the person with the id `to`, who may be the doer, or to `NOBODY`.

    `seen` is the number of the assignment that the doer saw, 0 for none. Nothing is done where the
    item is theirs already. Raises AssignedMeanwhile, CannotWorkOnIt.
    """
    last = _last(item.subject)
    if whose(last) == to:
        return
    if to != NOBODY and not people.can_work_on(item.subject, to):
        raise CannotWorkOnIt("That person cannot work on it.")
    if _number(last) != seen:
        raise _meanwhile(last)
    try:
        with transaction.atomic():
            Assignment.objects.create(
                kind=item.subject.kind,
                subject_id=item.subject.id,
                number=seen + 1,
                assignee_id=to or None,
                created_by_id=doer.name,
                created_at=now,
            )
    except IntegrityError as error:
        if violated(error) != _ONE_PER_NUMBER:
            raise
        raise _meanwhile(_last(item.subject)) from error
    _record(item, to, doer, now)


def _record(item: Item, to: str, doer: Doer, now: datetime) -> None:
    action = {NOBODY: "item.released", doer.name: "item.taken"}.get(to, "item.given")
    details = {"item": item.subject.kind.label}
    if action == "item.given":
        details |= {"to": to, "email": doers.names_of([to])[to]}
    doers.record(doer, action, item.subject.id, now=now, **details)


def current(subjects: Collection[Subject]) -> dict[Subject, Assignment]:
    """The last assignment of each; those that never had one are left out. One query."""
    rows = that_hold().filter(one_of("subject_id", {each.id for each in subjects}))
    return {Subject(ItemKind(row.kind), row.subject_id): row for row in rows}


def of_person(user_id: str, *, kinds: Collection[ItemKind], most: int) -> list[Subject]:
    """What of these kinds is theirs now, the newest first. One query."""
    rows = that_hold().filter(assignee=user_id, kind__in=kinds).order_by("-created_at", "-pk")
    found = rows.values_list("kind", "subject_id")[:most]
    return [Subject(ItemKind(kind), pk) for kind, pk in found]


def has_any(user_id: str) -> bool:
    """Whether something of any kind is theirs now. One query, on every visit of the home."""
    return bool(_one_of_person().rows(person=user_id))


@cache
def _one_of_person() -> Statement:
    theirs = that_hold().filter(assignee__pk=Given("person", TextField()))
    return compiled.union(theirs.values("pk")[:1])


def whose(assignment: Assignment | None) -> str:
    """The person's id, or `NOBODY`."""
    return (assignment and assignment.assignee_id) or NOBODY


def that_hold() -> QuerySet[Assignment]:
    """Those that no later one follows. Numbers have no gaps."""
    next_one = Assignment.objects.filter(
        kind=OuterRef("kind"), subject_id=OuterRef("subject_id"), number__gt=OuterRef("number")
    )
    return Assignment.objects.filter(~Exists(next_one))


def of_item(subject: Subject) -> QuerySet[Assignment]:
    """All that there were, in no order."""
    return Assignment.objects.filter(kind=subject.kind, subject_id=subject.id)


def _last(subject: Subject) -> Assignment | None:
    return of_item(subject).order_by("-number").first()


def _number(assignment: Assignment | None) -> int:
    return assignment.number if assignment else 0


def _meanwhile(last: Assignment | None) -> AssignedMeanwhile:
    """Says who has it now."""
    if last is None or last.assignee_id is None:
        return AssignedMeanwhile("Somebody released it meanwhile.")
    name = doers.names_of([last.assignee_id])[last.assignee_id]
    return AssignedMeanwhile(f"{name} has had it since {when(last.created_at)}.")
