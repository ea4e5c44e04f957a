"""Encrypts what is stored again after a new key was put first in `ENCRYPTION_KEYS`.

A key is first added at the end, so that every process can decrypt with it, and only then moved to
the front, where it encrypts. Otherwise one process would encrypt what another cannot decrypt
(decision 0122).

Encrypted columns are found, not listed, so that none can be forgotten: a model with encrypted
values has an `encryption_context`, and the names of these columns end in `_token`. Only tables of
packages have to be registered with `also`. A run takes the values that another key encrypted, so it
can be stopped and started at any time. When none are left, the old key can be removed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from django.apps import apps
from django.db import models, transaction
from django.db.models import QuerySet

from common import crypto

BATCH = 500


@dataclass(frozen=True, kw_only=True)
class EncryptedColumn:
    """A text column of `crypto.encrypt` tokens; empty and null mean no value."""

    model: type[models.Model]
    column: str

    @property
    def name(self) -> str:
        return f"{self.model._meta.label}.{self.column}"

    def stale(self) -> QuerySet[Any]:
        """Rows whose value was encrypted with another key than the current one."""
        rows = self.model._default_manager.exclude(**{self.column: ""})
        return rows.filter(**{f"{self.column}__isnull": False}).exclude(
            **{f"{self.column}__startswith": f"{crypto.current_key_id()}:"}
        )

    def has_current(self) -> bool:
        """Whether the current key has encrypted a value already."""
        mine = {f"{self.column}__startswith": f"{crypto.current_key_id()}:"}
        return self.model._default_manager.filter(**mine).exists()

    def context(self, row: Any) -> str:
        return str(row.encryption_context)

    def read(self, row: Any) -> str:
        """The text of the row's value. Raises Undecryptable, UnknownKey, KeyServiceAway."""
        return crypto.decrypt(self.token(row), context=self.context(row))

    def token(self, row: Any) -> str:
        return str(getattr(row, self.column))

    def swap(self, row: Any, token: str) -> int:
        """Put `token` in the place of the value that was read, unless it changed since; returns how
        many rows changed."""
        rows = self.model._default_manager.filter(pk=row.pk, **{self.column: self.token(row)})
        return rows.update(**{self.column: token})


@dataclass(frozen=True)
class EncryptedEntry:
    """A token under one key of a JSON column. Its context is `kind`, and whose it is by the column
    `owner`; earlier releases had `kind` alone."""

    model: type[models.Model]
    column: str
    key: str
    kind: str
    owner: str

    @property
    def name(self) -> str:
        return f"{self.model._meta.label}.{self.column}.{self.key}"

    def stale(self) -> QuerySet[Any]:
        path = f"{self.column}__{self.key}"
        rows = self.model._default_manager.filter(**{f"{self.column}__has_key": self.key})
        return rows.exclude(**{f"{path}__startswith": f"{crypto.current_key_id()}:"})

    def has_current(self) -> bool:
        """Whether the current key has encrypted a value already."""
        mine = {f"{self.column}__{self.key}__startswith": f"{crypto.current_key_id()}:"}
        return self.model._default_manager.filter(**mine).exists()

    def context(self, row: Any) -> str:
        return f"{self.kind}:{getattr(row, self.owner)}"

    def read(self, row: Any) -> str:
        """The text of the row's value. Raises Undecryptable, UnknownKey, KeyServiceAway."""
        try:
            return crypto.decrypt(self.token(row), context=self.context(row))
        except crypto.UnknownKey:
            raise
        except crypto.Undecryptable:
            return crypto.decrypt(self.token(row), context=self.kind)

    def token(self, row: Any) -> str:
        return str(getattr(row, self.column)[self.key])

    def swap(self, row: Any, token: str) -> int:
        before = getattr(row, self.column)
        rows = self.model._default_manager.filter(pk=row.pk, **{self.column: before})
        return rows.update(**{self.column: {**before, self.key: token}})


Place: TypeAlias = EncryptedColumn | EncryptedEntry
_told: list[EncryptedEntry] = []


def also(place: EncryptedEntry) -> None:
    """Also rotate these values of a package's table."""
    _told.append(place)


@dataclass
class Outcome:
    """The result for one column. `unreadable` are the ids of rows that no key decrypts."""

    rotated: int = 0
    unreadable: list[str] = field(default_factory=list)


def columns() -> list[Place]:
    """Every encrypted value of the product, by name."""
    found: list[Place] = [
        EncryptedColumn(model=model, column=column.name)
        for model in apps.get_models()
        if hasattr(model, "encryption_context")
        for column in model._meta.concrete_fields
        if column.name.endswith("_token")
    ]
    return sorted([*found, *_told], key=lambda place: place.name)


def rotate(place: Place, *, progress: Callable[[int], None] = lambda _count: None) -> Outcome:
    """Encrypt every stale value of the column with the current key, a batch per transaction."""
    outcome = Outcome()
    rows = list(place.stale().order_by("pk")[:BATCH])
    while rows:
        with transaction.atomic():
            for row in rows:
                _rotate_row(place, row, outcome)
        progress(outcome.rotated)
        rows = list(place.stale().filter(pk__gt=rows[-1].pk).order_by("pk")[:BATCH])
    return outcome


def _rotate_row(place: Place, row: Any, outcome: Outcome) -> None:
    """Rotate one value by compare-and-swap, so that a value that somebody changes meanwhile stays
    theirs."""
    try:
        text = place.read(row)
    except crypto.Undecryptable:
        outcome.unreadable.append(str(row.pk))
        return
    outcome.rotated += place.swap(row, crypto.encrypt(text, context=place.context(row)))
