"""What the page of an item shows about the work on it: who has it, and the notes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.http import HttpRequest

from desk import doers
from desk.items import notes, people, standing
from desk.items.forms import NoteForm
from desk.items.standing import Standing
from desk.items.subjects import Subject
from desk.models import Assignment, ItemNote

SHOWN = 10


@dataclass(frozen=True)
class NoteLine:
    row: ItemNote
    author: str


@dataclass(frozen=True)
class AssignmentLine:
    """`to` is empty where somebody released it."""

    row: Assignment
    by: str
    to: str


@dataclass(frozen=True)
class Panel:
    """`others` are the addresses of those whom the reader may give the item. `form` is None for who
    may not write."""

    subject: Subject
    standing: Standing
    notes: list[NoteLine]
    others: list[str]
    may_assign: bool
    form: NoteForm | None

    @property
    def has_more(self) -> bool:
        return self.standing.notes > len(self.notes)


def panel(request: HttpRequest, subject: Subject) -> Panel:
    """Six queries: for whoever may read notes."""
    me, able = str(request.user.pk), people.able()
    may_assign = request.user.has_perm(people.WORKS)
    newest = notes.of_item(subject).order_by("-created_at", "-pk")[:SHOWN]
    return Panel(
        subject=subject,
        standing=standing.of_items([subject], me=me, able=able)[subject],
        notes=note_lines(newest),
        others=[email for pk, email in able.items() if pk != me] if may_assign else [],
        may_assign=may_assign,
        form=NoteForm(subject=subject) if request.user.has_perm(notes.WRITES) else None,
    )


def note_lines(rows: Iterable[ItemNote]) -> list[NoteLine]:
    """With the names of who wrote them. Two queries, none for none."""
    found = list(rows)
    names = doers.names_of(row.created_by_id for row in found) if found else {}
    return [NoteLine(row, names[row.created_by_id]) for row in found]


def assignment_lines(rows: Iterable[Assignment]) -> list[AssignmentLine]:
    """With the names of those concerned. Two queries, none for none."""
    found = list(rows)
    concerned = {row.created_by_id for row in found} | {row.assignee_id or "" for row in found}
    names = doers.names_of(concerned) if found else {}
    return [
        AssignmentLine(row, names[row.created_by_id], names.get(row.assignee_id or "", ""))
        for row in found
    ]
