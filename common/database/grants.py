"""Granting roles what they need (decision 0114); `roles` checks it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from django.conf import settings
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from psycopg import sql

from common.database import rights, walls
from common.database.job_rights import needs_of
from common.database.rights import Needs, Rights

_SCHEMA = "public"
_EXISTS = "SELECT 1 FROM pg_roles WHERE rolname = %s"
# Tables, their partitions and views, by name.
_TABLES = """
SELECT relname FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v')
ORDER BY relname
"""
# The functions that run with their owner's rights are made for the application.
FUNCTIONS = """
SELECT oid::regprocedure::text FROM pg_proc
WHERE pronamespace = 'public'::regnamespace AND prosecdef ORDER BY 1
"""


class UnknownRole(Exception):
    """There is no such role."""


class Granted(NamedTuple):
    """How many tables and functions the role may use now."""

    tables: int
    functions: int


def grant(role: str, *, revoke: bool = True, needs: Needs | None = None) -> Granted:
    """Grant `role` what the application needs, or `needs`; with `revoke`, take all else away.

    To be run as the owner of the tables. It is one transaction, so nobody sees a state in between.
    Raises UnknownRole.
    """
    wanted = rights.of_application() if needs is None else needs
    require(role)
    with transaction.atomic(), connection.cursor() as cursor:
        there = [name for name in column(cursor, _TABLES) if name in wanted.tables]
        tables = {name: wanted.tables[name] for name in there}
        functions = {
            signature: name_of(signature) in wanted.functions
            for signature in column(cursor, FUNCTIONS)
        }
        for statement in _statements(role, tables, functions, revoke=revoke):
            cursor.execute(statement.as_string(cursor.connection))
    return Granted(len(tables), sum(functions.values()))


def name_of(signature: str) -> str:
    """The function's name in PostgreSQL's spelling of it and its arguments."""
    return signature.partition("(")[0]


def require(role: str) -> None:
    """Raises UnknownRole."""
    with connection.cursor() as cursor:
        cursor.execute(_EXISTS, [role])
        if cursor.fetchone() is None:
            raise UnknownRole(role)


def build_walls(application: str, api: str, *, revoke: bool = True) -> tuple[Granted, int]:
    """Make the policies of all tables, and grant the API's role what it needs behind them; returns
    what it has now, and how many tables had other policies.

    To be run as the owner of the tables. Policies come first: the role never sees a table without.
    Raises UnknownRole.
    """
    require(api)
    changed = walls.build(who(application, api))
    return grant(api, revoke=revoke, needs=of_api()), changed


def of_api() -> Needs:
    """What the API's role works with."""
    return Needs(rights.of_api(), rights.FUNCTIONS - rights.NEVER_OF_API)


def who(application: str, api: str) -> walls.Who:
    """The roles that policies name, those of jobs among them."""
    jobs = {str(login["USER"]): needs_of(job) for job, login in settings.DATABASE_JOBS.items()}
    tables = {
        role: {table: _rules(needs, table) for table in needs.tables}
        for role, needs in jobs.items()
    }
    return walls.Who(application, api, tables)


def _rules(needs: Needs, table: str) -> walls.Rules:
    return walls.Rules(needs.inserts.get(table, "true"), needs.updates.get(table, "true"))


def _statements(
    role: str, tables: Mapping[str, Rights], functions: Mapping[str, bool], *, revoke: bool
) -> Iterator[sql.Composed]:
    to, schema = sql.Identifier(role), sql.Identifier(_SCHEMA)
    if revoke:
        yield sql.SQL("REVOKE ALL ON ALL TABLES IN SCHEMA {} FROM {}").format(schema, to)
        yield sql.SQL("REVOKE ALL ON SCHEMA {} FROM {}").format(schema, to)
    yield sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(schema, to)
    yield sql.SQL("GRANT USAGE ON ALL SEQUENCES IN SCHEMA {} TO {}").format(schema, to)
    for name, allowed in tables.items():
        table = sql.Identifier(name)
        yield sql.SQL("GRANT {} ON {} TO {}").format(_privileges(allowed), table, to)
    for signature, is_needed in functions.items():
        function = sql.SQL(signature)  # PostgreSQL's own spelling, quoted by it
        yield sql.SQL("REVOKE ALL ON FUNCTION {} FROM PUBLIC").format(function)
        if is_needed:
            yield sql.SQL("GRANT EXECUTE ON FUNCTION {} TO {}").format(function, to)
        elif revoke:
            yield sql.SQL("REVOKE ALL ON FUNCTION {} FROM {}").format(function, to)


def _privileges(allowed: Rights) -> sql.Composed:
    parts: list[sql.Composable] = []
    if allowed.read:
        parts.append(sql.SQL("SELECT") + _columns(allowed.read))
    if allowed.insert:
        parts.append(sql.SQL("INSERT"))
    if allowed.update:
        parts.append(sql.SQL("UPDATE") + _columns(allowed.update))
    if allowed.delete:
        parts.append(sql.SQL("DELETE"))
    return sql.SQL(", ").join(parts)


def _columns(named: bool | tuple[str, ...]) -> sql.Composed:
    """The columns that a right is about; nothing for all of them."""
    if isinstance(named, bool):
        return sql.Composed([])
    return sql.SQL(" ({})").format(sql.SQL(", ").join(map(sql.Identifier, named)))


def column(cursor: CursorWrapper, query: str) -> list[str]:
    cursor.execute(query)
    return [name for (name,) in cursor.fetchall()]
