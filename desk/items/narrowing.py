"""Lists of items by who works on them: everybody's, one's own, or nobody's."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeVar

from django.db.models import CharField, Exists, Model, OuterRef, QuerySet, TextChoices
from django.db.models.functions import Cast

from desk.items import assigning
from desk.models import ItemKind

M = TypeVar("M", bound=Model)


class Whose(TextChoices):
    """What somebody wants to see. The names stand in addresses."""

    EVERYBODYS = "", "All"
    MINE = "mine", "Mine"
    NOBODYS = "unassigned", "Unassigned"


@dataclass(frozen=True)
class Narrowing:
    """`me` is the reader's id. `able` are the ids of those who work on items now: what somebody
    else had last is nobody's."""

    whose: Whose = Whose.EVERYBODYS
    me: str = ""
    able: Collection[str] = ()

    def of(self, kind: ItemKind, rows: QuerySet[M], key: str = "pk") -> QuerySet[M]:
        """Those of the rows that the list shows; `key` is the column that names the item. Two
        looks into an index for each row."""
        if self.whose == Whose.EVERYBODYS:
            return rows
        of_row = assigning.that_hold().filter(
            kind=kind, subject_id=Cast(OuterRef(key), CharField())
        )
        if self.whose == Whose.MINE:
            return rows.filter(Exists(of_row.filter(assignee=self.me)))
        return rows.filter(~Exists(of_row.filter(assignee__in=list(self.able))))

    def keeps(self, assignee: str | None) -> bool:
        """Whether the list shows an item that this person had last."""
        if self.whose == Whose.EVERYBODYS:
            return True
        return assignee == self.me if self.whose == Whose.MINE else assignee not in self.able


ALL = Narrowing()
