"""Statements over many rows at once: one text however many rows, each column an array.

For models with a primary key made in Python and columns that `str` puts into words: texts, numbers,
truth values, days and moments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import CharField, Field, ForeignKey, Model, TextField

from common.engine import arrays, sql
from common.engine.postgresql.prepared import Row

_NOTHING: Mapping[str, Any] = {}


class Swap(NamedTuple):
    """The row `pk` is to say `target` where it says `source`, and to take `changes` with it."""

    pk: str
    source: str
    target: str
    changes: Mapping[str, Any]


def insert(
    rows: Sequence[Model], *, then: str = "", values: Mapping[str, Any] = _NOTHING
) -> list[Row]:
    """`sql.insert` for any number of rows of one model."""
    model = type(rows[0])
    columns = _columns_of(model, tuple(f.attname for f in model._meta.concrete_fields))
    given = dict(values)
    for column in columns:
        given[column.place] = arrays.mixed(getattr(row, column.name) for row in rows)
    found = sql.rows(_insert_text(model, columns, then), given)
    for row in rows:
        row._state.adding = False
        row._state.db = DEFAULT_DB_ALIAS
    return found


def swap(model: type[Model], *, column: str, swaps: Sequence[Swap]) -> set[str]:
    """Compare and swap `column` of many rows, in one statement; returns the keys of those that said
    `source`. All change the same columns besides."""
    names = tuple(swaps[0].changes)
    columns = _columns_of(model, (column, *names))
    given = {
        "keys": arrays.texts(each.pk for each in swaps),
        "sources": arrays.texts(each.source for each in swaps),
        columns[0].place: arrays.texts(each.target for each in swaps),
    }
    for name, into in zip(names, columns[1:], strict=True):
        given[into.place] = arrays.mixed(each.changes[name] for each in swaps)
    return {pk for (pk,) in sql.rows(_swap_text(model, columns), given)}


class _Column(NamedTuple):
    """A column, its attribute, the place of its values in a statement, and their type there."""

    column: str
    name: str
    place: str
    type: str

    @property
    def values(self) -> str:
        return f"%({self.place})s::text::{self.type}[]"


@cache
def _columns_of(model: type[Model], names: tuple[str, ...]) -> tuple[_Column, ...]:
    found = []
    for number, name in enumerate(names):
        field: Any = model._meta.get_field(name)
        column = connection.ops.quote_name(field.column)
        found.append(_Column(column, name, f"column_{number}", _type_of(field)))
    return tuple(found)


def _type_of(field: Field[Any, Any]) -> str:
    """A cast to varchar(n) would cut silently what is too long; the column itself refuses it."""
    target = field.target_field if isinstance(field, ForeignKey) else field
    if isinstance(target, CharField | TextField):
        return "text"
    return str(target.db_type(connection))


@cache
def _insert_text(model: type[Model], columns: tuple[_Column, ...], then: str) -> str:
    into, table = _joined(c.column for c in columns), _table(model)
    text = f"INSERT INTO {table} ({into}) SELECT * FROM unnest({_values(columns)})"  # noqa: S608  # names of ours, quoted
    return f"WITH inserted AS ({text}), {then}" if then else text


@cache
def _swap_text(model: type[Model], columns: tuple[_Column, ...]) -> str:
    """The rows come from the arrays, so that they are changed in the order of these."""
    table, pk = _table(model), connection.ops.quote_name(str(model._meta.pk.column))
    sets = _joined(f"{c.column} = given.{c.place}" for c in columns)
    names = _joined(("key", "source", *(c.place for c in columns)))
    return (
        f"UPDATE {table} SET {sets}"  # noqa: S608  # names of ours, quoted
        f" FROM unnest(%(keys)s::text::text[], %(sources)s::text::text[], {_values(columns)})"
        f" AS given({names})"
        f" WHERE {table}.{pk} = given.key AND {table}.{columns[0].column} = given.source"
        f" RETURNING {table}.{pk}"
    )


def _table(model: type[Model]) -> str:
    return connection.ops.quote_name(model._meta.db_table)


def _values(columns: Iterable[_Column]) -> str:
    return _joined(column.values for column in columns)


def _joined(words: Iterable[str]) -> str:
    return ", ".join(words)
