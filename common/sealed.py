"""The rows that seals cover. Every app registers its own tables (decision 0116).

A sealed row is text: a JSON array of its columns, in a form that does not depend on the session's
settings. A layout is a list of columns and never changes once it was used. Whoever adds a column
adds a layout at the end; old seals are still read by the old one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.contrib.postgres.fields import ArrayField
from django.db import models

_INSTANT = """to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')"""


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """`name` stands in seals and never changes; `label` is for people."""

    name: str
    label: str
    model: type[models.Model]
    layouts: tuple[str, ...]

    @property
    def table(self) -> str:
        return self.model._meta.db_table

    @property
    def key(self) -> str:
        """The column that names a row, and gives the order in which rows are read."""
        return str(self.model._meta.pk.column)

    @property
    def layout(self) -> int:
        """The number of the layout that new seals use, counted from 1."""
        return len(self.layouts)

    def text(self, layout: int) -> str:
        """SQL that gives one row, named `line`, as text."""
        columns = self.layouts[layout - 1].split()
        return f"json_build_array({', '.join(map(self._text_of, columns))})::text"

    def _value(self, column: str) -> str:
        """SQL for a column of the row."""
        return f"line.{column}"

    def _text_of(self, column: str) -> str:
        field = next(each for each in self.model._meta.concrete_fields if each.column == column)
        name = self._value(column)
        if isinstance(field, models.DateTimeField):
            return _INSTANT.format(column=name)
        if isinstance(field, models.DateField):
            return f"to_char({name}, 'YYYY-MM-DD')"
        if isinstance(field, models.BinaryField):
            return f"encode({name}, 'hex')"
        if isinstance(field, ArrayField):
            return f"array_to_json({name})::text"
        return f"{name}::text"


@dataclass(frozen=True, kw_only=True)
class DatedRows(_Rows):
    """Rows in the order of a column `at`, which says when they were written and never changes.

    A row whose `at` is still null is not sealed yet. `tenant` is SQL for the tenant of a row (null:
    the operator's), `join` is what that needs. Rows older than `kept_for` may have been deleted.
    `left_out` names columns that may change, or whose encryption changes. `as_first` is SQL for a
    row of `join` that keeps what the columns of `changed_since` were at first, once they changed.
    `named`: seals keep the digest of each row as well, so that a proof can say which one is broken.
    """

    at: str = "created_at"
    tenant: str = "line.tenant_id"
    join: str = ""
    kept_for: timedelta | None = None
    left_out: str = ""
    as_first: str = ""
    changed_since: str = ""
    named: bool = False

    def _value(self, column: str) -> str:
        if column in self.changed_since.split():
            return f"coalesce({self.as_first}.{column}, line.{column})"
        return super()._value(column)


@dataclass(frozen=True, kw_only=True)
class NumberedRows(_Rows):
    """Rows numbered 1, 2, 3 … per tenant; each is committed after the one before it.

    `heads` is SQL for (tenant_id, sequence): how far the numbers of each tenant go.
    """

    heads: str


_dated: dict[str, DatedRows] = {}
_numbered: dict[str, NumberedRows] = {}


def register(*kinds: DatedRows | NumberedRows) -> None:
    """Have these rows sealed from now on. Only one kind, the ledger's lines, is numbered."""
    for kind in kinds:
        if isinstance(kind, DatedRows):
            _dated[kind.name] = kind
        else:
            _numbered[kind.name] = kind


def dated() -> dict[str, DatedRows]:
    """What is sealed by date, by name."""
    return dict(sorted(_dated.items()))


def lines() -> NumberedRows:
    """What is sealed by number: the lines of the ledger."""
    (kind,) = _numbered.values()
    return kind
