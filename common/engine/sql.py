"""Statements on hot paths: prepared by the server, values in binary, no cursor, no compiler.

Django's compiler builds the same text at every call, and psycopg's cursor finds out the same types;
on hot requests both cost more than PostgreSQL's own work. These functions use the same connection
and transaction as the ORM, and raise the same exceptions. While somebody captures Django's queries,
and with `DATABASE_FAST_PATH=False`, the statement goes through Django's cursor.
"""

from __future__ import annotations

import threading
from asyncio import _get_running_loop
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar, cast

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import (
    BooleanField,
    CharField,
    DateField,
    ForeignKey,
    IntegerField,
    Model,
    TextField,
)

from common.engine.postgresql.prepared import Row, Values
from common.engine.postgresql.wrapper import Wrapper

M = TypeVar("M", bound=Model)

_NOTHING: Mapping[str, Any] = {}
# Fields whose converters would return each value unchanged.
_PLAIN = (BooleanField, CharField, DateField, IntegerField, TextField)


def rows(statement: str, values: Values) -> list[Row]:
    """Run `statement` and return its rows. Raises what Django's cursor would raise.

    PostgreSQL infers the types of parameters. Where it cannot, or would choose too small an
    integer, the statement has to say the type: `%(amount)s::bigint`.
    """
    return _database().rows(statement, values)


def first(statement: str, values: Values) -> Row | None:
    """The first row, if there is one."""
    found = rows(statement, values)
    return found[0] if found else None


def columns(model: type[Model]) -> str:
    """The columns that `instance` needs, in its order, for the select list."""
    return ", ".join(_quoted(str(field.column)) for field in model._meta.concrete_fields)


def instance(model: type[M], row: Row) -> M:
    """The object of a row that was read by `columns`. Converters of fields, such as JSON's, do not
    run."""
    names = [field.attname for field in model._meta.concrete_fields]
    return model.from_db(DEFAULT_DB_ALIAS, names, row)


def insert(*new: Model, then: str = "", values: Mapping[str, Any] = _NOTHING) -> list[Row]:
    """`save(force_insert=True)` of each row, in one statement and without signals.

    `then` is the end of the statement (what would follow a `WITH`) and its values. It cannot see
    the new rows. For models whose primary key is made in Python. Raises IntegrityError as `save`
    does.
    """
    plan = _plan_of(then, *map(type, new))
    database = _database()
    given = dict(values)
    for row, columns in zip(new, plan.columns, strict=True):
        for column in columns:
            value = getattr(row, column.attribute)
            given[column.place] = column.convert(value, database) if column.convert else value
    found = rows(plan.statement, given)
    for row in new:
        row._state.adding = False
        row._state.db = DEFAULT_DB_ALIAS
    return found


class _Column(NamedTuple):
    """A column of a row to insert, with its parameter in the statement."""

    place: str
    attribute: str
    convert: Callable[[Any, BaseDatabaseWrapper], Any] | None


class _Plan(NamedTuple):
    """How to insert a row of each of some models."""

    statement: str
    columns: Sequence[Sequence[_Column]]


@cache
def _plan_of(then: str, *models: type[Model]) -> _Plan:
    columns = [_columns_of(model, number) for number, model in enumerate(models)]
    steps = list(map(_insert_of, models, columns))
    last = then or steps.pop()
    steps = [f"part_{number} AS ({text})" for number, text in enumerate(steps)]
    if then:
        return _Plan(f"WITH {', '.join([*steps, then])}", columns)
    return _Plan(f"WITH {', '.join(steps)} {last}" if steps else last, columns)


def _columns_of(model: type[Model], number: int) -> list[_Column]:
    found = []
    for field in model._meta.concrete_fields:
        target = field.target_field if isinstance(field, ForeignKey) else field
        convert = None if isinstance(target, _PLAIN) else field.get_db_prep_save
        found.append(_Column(f"row_{number}_{field.attname}", field.attname, convert))
    return found


def _insert_of(model: type[Model], into: Sequence[_Column]) -> str:
    values = ", ".join(f"%({column.place})s" for column in into)
    return f"INSERT INTO {_quoted(model._meta.db_table)} ({columns(model)}) VALUES ({values})"  # noqa: S608  # names of ours, quoted


class _Thread(threading.local):
    database: Wrapper | None = None


_thread = _Thread()


def _database() -> Wrapper:
    """Django's connection of this thread. It is kept, because looking it up costs as much as
    binding a statement's values.

    In an event loop Django's look-up runs, which refuses to block the loop.
    """
    if _get_running_loop() is not None:
        return _looked_up()
    if _thread.database is None:
        _thread.database = _looked_up()
    return _thread.database


def forget_connection() -> None:
    """Look the connection of this thread up again: it has got another one."""
    _thread.database = None


def use_connection(wrapper: Wrapper) -> None:
    """Note that Django's connection of this thread is this one now: it need not be looked up."""
    _thread.database = wrapper


def _looked_up() -> Wrapper:
    return cast("Wrapper", connections[DEFAULT_DB_ALIAS])


def _quoted(name: str) -> str:
    return connections[DEFAULT_DB_ALIAS].ops.quote_name(name)
