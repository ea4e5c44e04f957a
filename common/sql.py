"""Statements on hot paths: prepared by the server, values in binary, no cursor, no compiler.

Django's compiler builds the same text anew for every call, and psycopg's cursor finds the same
types anew; on hot requests those two cost more than PostgreSQL's own work. Same connection, same
transaction, same exceptions as through the ORM. While somebody watches Django's queries (tests,
DEBUG) the statement goes through Django's cursor, so that it is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar, cast

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Field, Model

from common.postgresql.base import DatabaseWrapper
from common.postgresql.direct import Row, Values

M = TypeVar("M", bound=Model)


def rows(statement: str, values: Values) -> list[Row]:
    """Run `statement` and return what it gives. Raises what Django's cursor would raise.

    PostgreSQL infers the types of its places; where it cannot, or would choose a smaller integer,
    the statement says them: `%(amount)s::bigint`.
    """
    database = cast("DatabaseWrapper", connections[DEFAULT_DB_ALIAS])
    if database.queries_logged or database.execute_wrappers:
        return _watched(database, statement, values)
    return database.rows(statement, values)


def first(statement: str, values: Values) -> Row | None:
    """The first row, if there is one."""
    found = rows(statement, values)
    return found[0] if found else None


def columns(model: type[Model]) -> str:
    """The columns that `instance` needs, in its order."""
    return _plan_of(model).columns


def instance(model: type[M], row: Row) -> M:
    """The object of a row of `columns`. Converters of fields, such as JSON's, do not run."""
    names = [field.attname for field in model._meta.concrete_fields]
    return model.from_db(DEFAULT_DB_ALIAS, names, row)


def insert(*new: Model) -> None:
    """`save(force_insert=True)` of each row, in one statement and without signals.

    For models with a primary key made in Python. Raises IntegrityError as `save` does.
    """
    plan = _plan_of(*map(type, new))
    database = connections[DEFAULT_DB_ALIAS]
    values = [
        field.get_db_prep_save(getattr(row, field.attname), database)
        for row, fields in zip(new, plan.fields, strict=True)
        for field in fields
    ]
    rows(plan.statement, values)
    for row in new:
        row._state.adding = False
        row._state.db = DEFAULT_DB_ALIAS


class _Plan(NamedTuple):
    """How to insert a row of each of some models."""

    columns: str
    statement: str
    fields: Sequence[Sequence[Field[Any, Any]]]


@cache
def _plan_of(*models: type[Model]) -> _Plan:
    columns = [_columns_of(model) for model in models]
    inserts = [
        f"INSERT INTO {_quoted(model._meta.db_table)} ({names}) VALUES ({_places(model)})"  # noqa: S608  # names of ours, quoted
        for model, names in zip(models, columns, strict=True)
    ]
    parts = [f"part_{number} AS ({text})" for number, text in enumerate(inserts[:-1])]
    head = f"WITH {', '.join(parts)} " if parts else ""
    return _Plan(columns[0], head + inserts[-1], [model._meta.concrete_fields for model in models])


def _columns_of(model: type[Model]) -> str:
    return ", ".join(_quoted(str(field.column)) for field in model._meta.concrete_fields)


def _places(model: type[Model]) -> str:
    return ", ".join(["%s"] * len(model._meta.concrete_fields))


def _quoted(name: str) -> str:
    return connections[DEFAULT_DB_ALIAS].ops.quote_name(name)


def _watched(database: BaseDatabaseWrapper, statement: str, values: Values) -> list[Row]:
    with database.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall()) if cursor.description else []
