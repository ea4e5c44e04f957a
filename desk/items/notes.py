"""Notes on items: written once, read by staff alone."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db import transaction
from django.db.models import Count, QuerySet

from common.engine.lookups import one_of
from desk import doers
from desk.doers import Doer
from desk.items.subjects import Item, Subject
from desk.models import ItemKind, ItemNote

WRITES = "desk.add_itemnote"
READS = "desk.view_itemnote"


@transaction.atomic
def write(item: Item, *, id: str, text: str, doer: Doer, now: datetime) -> ItemNote:
    """Keep a note of one to `NOTE_LENGTH_MAX` characters. Its text is not in the audit log, which
    names the note.

    The note of this id that an earlier call kept changes nothing and is returned as it is, whatever
    its text.
    """
    subject = item.subject
    note, is_new = ItemNote.objects.get_or_create(
        pk=id,
        defaults={
            "kind": subject.kind,
            "subject_id": subject.id,
            "text": text,
            "created_by_id": doer.name,
            "created_at": now,
        },
    )
    if not is_new:
        return note
    doers.record(doer, "item.noted", subject.id, now=now, item=subject.kind.label, noteId=note.pk)
    return note


def of_item(subject: Subject) -> QuerySet[ItemNote]:
    """In no order."""
    return ItemNote.objects.filter(kind=subject.kind, subject_id=subject.id)


def counts(subjects: Collection[Subject]) -> dict[Subject, int]:
    """How many notes each of these has; those without one are left out. One query."""
    rows = ItemNote.objects.filter(one_of("subject_id", {each.id for each in subjects}))
    counted = rows.values_list("kind", "subject_id").annotate(Count("pk")).order_by()
    return {Subject(ItemKind(kind), pk): number for kind, pk, number in counted}
