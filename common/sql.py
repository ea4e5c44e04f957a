"""Statements on hot paths: prepared by the server, results in binary, no cursor of Django's.

Django's cursor cannot prepare, and its compiler builds the same text anew for every call; on hot
requests those two cost more than PostgreSQL's own work. Same connection, same transaction, same
exceptions as through the ORM. While somebody watches Django's queries (tests, DEBUG) the statement
goes through Django's cursor, so that it is seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar, cast

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Field, Model
from psycopg.pq.abc import PGresult

from common.postgresql.base import DatabaseWrapper

# A kept cursor keeps what it read last.
KEPT_ROWS_MAX = 200

Row = tuple[Any, ...]
M = TypeVar("M", bound=Model)
Values = Mapping[str, Any] | Sequence[Any]


def rows(statement: str, values: Values) -> list[Row]:
    """Run `statement` and return what it gives. Raises what Django's cursor would raise."""
    database = cast("DatabaseWrapper", connections[DEFAULT_DB_ALIAS])
    database.close_if_health_check_failed()
    database.ensure_connection()
    database.validate_no_broken_transaction()
    if database.queries_logged or database.execute_wrappers:
        return _watched(database, statement, values)
    with database.wrap_database_errors:
        cursor = database.cursor_of(statement)
        cursor.execute(statement, values, prepare=True, binary=True)
        found: list[Row] = cursor.fetchall() if _gives_rows(cursor.pgresult) else []
    if len(found) > KEPT_ROWS_MAX:
        database.forget_cursor(statement)
    return found


def _gives_rows(result: PGresult | None) -> bool:
    return result is not None and result.nfields > 0


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
