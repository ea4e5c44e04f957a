"""Re-encrypting what is stored after a new key was put in front of `ENCRYPTION_KEYS`.

Each app registers its sealed columns in its AppConfig. A run finds the values that another key
sealed, so it can be stopped and started at will; when none is left the old key can be dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.apps import apps
from django.db import models, transaction
from django.db.models import QuerySet

from common import crypto

BATCH = 500

_columns: dict[str, SealedColumn] = {}


@dataclass(frozen=True, kw_only=True)
class SealedColumn:
    """A text column of `crypto.encrypt` tokens; empty and null mean no value."""

    model: str
    column: str
    context: Callable[[Any], str]

    @property
    def name(self) -> str:
        return f"{self.model}.{self.column}"

    def stale(self) -> QuerySet[Any]:
        """Rows whose value another than the current key sealed."""
        model: type[models.Model] = apps.get_model(self.model)
        rows = model._default_manager.exclude(**{self.column: ""})
        return rows.filter(**{f"{self.column}__isnull": False}).exclude(
            **{f"{self.column}__startswith": f"{crypto.current_key_id()}:"}
        )


@dataclass
class Outcome:
    """What a run did to one column. `unreadable`: ids of rows that no key opens."""

    rotated: int = 0
    unreadable: list[str] = field(default_factory=list)


def register(*, model: str, column: str, context: Callable[[Any], str]) -> None:
    """Declare a sealed column, e.g. `model="funding.FundingSource"`.

    `context(row)` gives the context that the row's value was encrypted with.
    """
    sealed = SealedColumn(model=model, column=column, context=context)
    _columns[sealed.name] = sealed


def columns() -> list[SealedColumn]:
    """Every registered column, by name."""
    return [_columns[name] for name in sorted(_columns)]


def rotate(
    sealed: SealedColumn, *, progress: Callable[[int], None] = lambda _count: None
) -> Outcome:
    """Seal every stale value of the column with the current key, a batch per transaction."""
    outcome = Outcome()
    last = ""
    while rows := list(sealed.stale().filter(pk__gt=last).order_by("pk")[:BATCH]):
        with transaction.atomic():
            for row in rows:
                _rotate_row(sealed, row, outcome)
        last = rows[-1].pk
        progress(outcome.rotated)
    return outcome


def _rotate_row(sealed: SealedColumn, row: models.Model, outcome: Outcome) -> None:
    """Compare-and-swap: a value that somebody changes meanwhile is left to them."""
    old = getattr(row, sealed.column)
    context = sealed.context(row)
    try:
        text = crypto.decrypt(old, context=context)
    except crypto.Undecryptable:
        outcome.unreadable.append(str(row.pk))
        return
    outcome.rotated += (
        type(row)
        ._default_manager.filter(pk=row.pk, **{sealed.column: old})
        .update(**{sealed.column: crypto.encrypt(text, context=context)})
    )
