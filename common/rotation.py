"""Re-encrypting what is stored after a new key was put in front of `ENCRYPTION_KEYS`.

Sealed columns are found, not listed, so that none can be forgotten: a model that keeps encrypted
values has an `encryption_context` and names their columns `…_token`. A run takes the values that
another key sealed, so it can be stopped and started at will; when none is left the old key can go.
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


@dataclass(frozen=True, kw_only=True)
class SealedColumn:
    """A text column of `crypto.encrypt` tokens; empty and null mean no value."""

    model: type[models.Model]
    column: str

    @property
    def name(self) -> str:
        return f"{self.model._meta.label}.{self.column}"

    def stale(self) -> QuerySet[Any]:
        """Rows whose value another than the current key sealed."""
        rows = self.model._default_manager.exclude(**{self.column: ""})
        return rows.filter(**{f"{self.column}__isnull": False}).exclude(
            **{f"{self.column}__startswith": f"{crypto.current_key_id()}:"}
        )


@dataclass
class Outcome:
    """What a run did to one column. `unreadable`: ids of rows that no key opens."""

    rotated: int = 0
    unreadable: list[str] = field(default_factory=list)


def columns() -> list[SealedColumn]:
    """Every sealed column of the product, by name."""
    found = [
        SealedColumn(model=model, column=column.name)
        for model in apps.get_models()
        if hasattr(model, "encryption_context")
        for column in model._meta.concrete_fields
        if column.name.endswith("_token")
    ]
    return sorted(found, key=lambda sealed: sealed.name)


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


def _rotate_row(sealed: SealedColumn, row: Any, outcome: Outcome) -> None:
    """Compare-and-swap: a value that somebody changes meanwhile is left to them."""
    old, context = getattr(row, sealed.column), row.encryption_context
    try:
        text = crypto.decrypt(old, context=context)
    except crypto.Undecryptable:
        outcome.unreadable.append(str(row.pk))
        return
    outcome.rotated += sealed.model._default_manager.filter(
        pk=row.pk, **{sealed.column: old}
    ).update(**{sealed.column: crypto.encrypt(text, context=context)})
