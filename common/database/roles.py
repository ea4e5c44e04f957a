"""The application's role: granting its rights, and checking which are missing or too much (decision
0114)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from django.conf import settings
from django.db import Error as DatabaseProblem
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from psycopg import sql

from common.database import jobs, rights, walls
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
_FUNCTIONS = """
SELECT oid::regprocedure::text FROM pg_proc
WHERE pronamespace = 'public'::regnamespace AND prosecdef ORDER BY 1
"""
_ACTUAL = """
SELECT
    relname,
    has_table_privilege(oid, 'SELECT'),
    has_table_privilege(oid, 'INSERT'),
    has_table_privilege(oid, 'DELETE'),
    has_table_privilege(oid, 'TRUNCATE') OR has_table_privilege(oid, 'TRIGGER'),
    has_table_privilege(oid, 'UPDATE'),
    CASE WHEN has_any_column_privilege(oid, 'UPDATE') THEN ARRAY(
        SELECT attname::text FROM pg_attribute
        WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
            AND has_column_privilege(attrelid, attnum, 'UPDATE')
    ) ELSE '{}' END,
    CASE WHEN has_table_privilege(oid, 'SELECT') THEN '{}' ELSE ARRAY(
        SELECT attname::text FROM pg_attribute
        WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
            AND has_column_privilege(attrelid, attnum, 'SELECT')
    ) END
FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v')
ORDER BY relname
"""
_NOT_EXECUTABLE = """
SELECT oid::regprocedure::text FROM pg_proc
WHERE pronamespace = 'public'::regnamespace AND prosecdef
    AND NOT has_function_privilege(oid, 'EXECUTE')
ORDER BY 1
"""
# Another role's, as _ACTUAL says ours.
_ACTUAL_OF = _ACTUAL.replace("_privilege(", "_privilege(%(role)s, ")
_EXECUTABLE_OF = """
SELECT oid::regprocedure::text, has_function_privilege(%(role)s, oid, 'EXECUTE') FROM pg_proc
WHERE pronamespace = 'public'::regnamespace AND prosecdef ORDER BY 1
"""
# What would let a role past its grants and policies.
_POWERS = (
    "is a superuser or bypasses row level security",
    "may take another role",
    "owns tables",
)
_WHO_IS = """
SELECT
    rolsuper OR rolbypassrls,
    EXISTS (
        SELECT FROM pg_auth_members WHERE member = pg_roles.oid
            AND NOT (%(told)s AND roleid = 'pg_read_all_stats'::regrole)
    ),
    EXISTS (SELECT FROM pg_class WHERE relowner = pg_roles.oid),
    %(told)s AND NOT pg_has_role(oid, 'pg_read_all_stats', 'USAGE')
FROM pg_roles WHERE rolname = %(role)s
"""
# Settings that are stored for the next sessions of our role. A role may store them itself, and
# those of _NEVER_SET would change what statements do.
_SETTINGS = """
SELECT split_part(setting, '=', 1), setting FROM pg_db_role_setting AS kept
CROSS JOIN LATERAL unnest(kept.setconfig) AS setting
WHERE kept.setrole IN (
        SELECT oid FROM pg_roles WHERE rolname IN (current_user, session_user)
    ) AND kept.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
ORDER BY 2
"""
_SETTINGS_OF = _SETTINGS.replace("(current_user, session_user)", "(%(role)s)")
_NEVER_SET = frozenset(
    {
        "ballast.now",
        "default_transaction_isolation",
        "default_transaction_read_only",
        "role",
        "row_security",
        "search_path",
    }
)
# The role that we work as, and whether grants bind it and the login behind it: they do not bind a
# superuser, nor a role that owns tables or is a member of their owner.
WHO = """
SELECT
    current_user,
    (SELECT bool_or(rolsuper) FROM pg_roles WHERE rolname IN (current_user, session_user)),
    EXISTS (
        SELECT FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
            AND (pg_has_role(current_user, relowner, 'MEMBER')
                OR pg_has_role(session_user, relowner, 'MEMBER'))
    ),
    has_schema_privilege('public', 'CREATE')
"""


class UnknownRole(Exception):
    """There is no such role."""


class Granted(NamedTuple):
    """How many tables and functions the role may use now."""

    tables: int
    functions: int


class Problem(NamedTuple):
    """Something wrong with the role we are connected as. `is_harmless`: it has more rights than it
    needs, so nothing fails."""

    words: str
    is_harmless: bool = False


def grant(role: str, *, revoke: bool = True, needs: Needs | None = None) -> Granted:
    """Grant `role` what the application needs, or `needs`; with `revoke`, take all else away.

    To be run as the owner of the tables. It is one transaction, so nobody sees a state in between.
    Raises UnknownRole.
    """
    wanted = rights.of_application() if needs is None else needs
    require(role)
    with transaction.atomic(), connection.cursor() as cursor:
        there = [name for name in _column(cursor, _TABLES) if name in wanted.tables]
        tables = {name: wanted.tables[name] for name in there}
        functions = {
            signature: name_of(signature) in wanted.functions
            for signature in _column(cursor, _FUNCTIONS)
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
    changed = walls.build(_who(application, api))
    return grant(api, revoke=revoke, needs=of_api()), changed


def of_api() -> Needs:
    """What the API's role works with."""
    return Needs(rights.of_api(), rights.FUNCTIONS)


def _who(application: str, api: str) -> walls.Who:
    """The roles that policies name, those of jobs among them."""
    jobs = {str(login["USER"]): needs_of(job) for job, login in settings.DATABASE_JOBS.items()}
    tables = {
        role: {table: needs.inserts.get(table, "true") for table in needs.tables}
        for role, needs in jobs.items()
    }
    return walls.Who(application, api, tables)


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


def unbound() -> str:
    """Why no grant binds the role we are connected as; empty if grants do."""
    with connection.cursor() as cursor:
        cursor.execute(WHO)
        return reason(*cursor.fetchone())


def reason(role: str, is_superuser: bool, is_owner: bool, may_create: bool) -> str:
    """Why no grant binds the role in a row of WHO; empty if grants do."""
    if is_superuser:
        return f"{role} is a superuser"
    if is_owner:
        return f"{role} owns tables, or may become their owner"
    if may_create:
        return f"{role} may create tables"
    return ""


def problems() -> list[Problem]:
    """What is wrong with the role we are connected as.

    Nothing if settings allow a role that no grant binds, and it is one.
    """
    if words := unbound():
        return [] if settings.DEBUG or settings.ALLOW_DATABASE_OWNER else [Problem(words)]
    return differences() + job_problems() + wall_problems()


def job_problems() -> list[Problem]:
    """What is wrong with the roles of jobs, one after another."""
    return [problem for job in jobs.ALL for problem in _job_problems(job)]


def _job_problems(job: str) -> list[Problem]:
    variable = jobs.variable(job)
    if job not in settings.DATABASE_JOBS:
        return [Problem(f"{variable} is not set: it works as DATABASE_URL", is_harmless=True)]
    role = str(settings.DATABASE_JOBS[job]["USER"])
    return _named(role, _login_problems(role, variable, needs_of(job)))


def wall_problems() -> list[Problem]:
    """What is wrong with the role of the API's requests, and with the policies that bind it."""
    api = settings.DATABASE_API.get("USER")
    if not api:
        words = "DATABASE_API_URL is not set: requests and pages may read every tenant"
        return [Problem(words, is_harmless=True)]
    found = _login_problems(api, "DATABASE_API_URL", of_api())
    who = _who(settings.DATABASE_APPLICATION_ROLE, api)
    return _named(api, [*found, *(_missing(words) for words in walls.missing(who))])


def _login_problems(role: str, variable: str, needs: Needs) -> list[Problem]:
    """What is wrong with another role than ours, which may do what it needs and nothing else."""
    with connection.cursor() as cursor:
        cursor.execute(_WHO_IS, {"role": role, "told": needs.is_told_of_transactions})
        row = cursor.fetchone()
        if row is None:
            return [Problem(f"there is no such role, which {variable} names")]
        *powers, lacks_statistics = row
        found = [Problem(power) for power, has in zip(_POWERS, powers, strict=True) if has]
        if lacks_statistics:  # then seals wait for long transactions of others
            found.append(Problem("is no member of pg_read_all_stats", is_harmless=True))
        cursor.execute(_ACTUAL_OF, {"role": role})
        actual = {name: given for name, *given in cursor.fetchall()}
        cursor.execute(_SETTINGS_OF, {"role": role})
        found += _settings_kept(cursor.fetchall())
        cursor.execute(_EXECUTABLE_OF, {"role": role})
        found += _function_differences(needs.functions, dict(cursor.fetchall()))
    for name in actual.keys() & rights.of_tables().keys():
        found += _differences(name, needs.tables.get(name), *actual[name])
    return found


def _function_differences(wanted: frozenset[str], actual: Mapping[str, bool]) -> Iterator[Problem]:
    for signature, may in actual.items():
        if may != (name_of(signature) in wanted):
            yield (_too_much if may else _missing)(f"EXECUTE on {signature}")


def _settings_kept(kept: Iterable[tuple[str, str]]) -> list[Problem]:
    never = (setting for name, setting in kept if name in _NEVER_SET)
    return [_too_much(f"{setting!r} for each session") for setting in never]


def _named(role: str, found: Iterable[Problem]) -> list[Problem]:
    """What is missing first."""
    named = [problem._replace(words=f"{role}: {problem.words}") for problem in found]
    return sorted(named, key=lambda problem: problem.is_harmless)


def refuse_to_start() -> None:
    """Connect once, so that a process with the wrong role ends before it serves.

    Does nothing if the server is away: the check is repeated at the next connection. Raises
    ImproperlyConfigured.
    """
    with suppress(DatabaseProblem):
        connection.ensure_connection()
    connection.close()


def differences() -> list[Problem]:
    """The rights that our role lacks; then the rights that it has and should not."""
    with connection.cursor() as cursor:
        cursor.execute(_ACTUAL)
        actual = {name: given for name, *given in cursor.fetchall()}
        closed = _column(cursor, _NOT_EXECUTABLE)
        there = {name_of(signature) for signature in _column(cursor, _FUNCTIONS)}
        cursor.execute(_SETTINGS)
        kept = cursor.fetchall()
    found = [_missing(f"function {name}") for name in sorted(rights.FUNCTIONS - there)]
    found += [_missing(f"EXECUTE on {signature}") for signature in closed]
    found += _settings_kept(kept)
    wanted = rights.of_tables()
    found += [_missing(f"table {name}") for name in sorted(wanted.keys() - actual.keys())]
    for name, given in actual.items():
        found += _differences(name, wanted.get(name), *given)
    return sorted(found, key=lambda problem: problem.is_harmless)


def _differences(
    name: str,
    wanted: Rights | None,
    select: bool,
    insert: bool,
    delete: bool,
    destroy: bool,
    update_all: bool,
    update_columns: list[str],
    read_columns: list[str],
) -> Iterator[Problem]:
    wanted = wanted or rights.NONE
    pairs = (
        ("SELECT", wanted.read is True, select),
        ("INSERT", wanted.insert, insert),
        ("DELETE", wanted.delete, delete),
        ("TRUNCATE or TRIGGER", False, destroy),
    )
    for right, should, does in pairs:
        if should != does:
            yield (_missing if should else _too_much)(f"{right} on {name}")
    yield from _column_differences("SELECT", wanted.read, read_columns, name)
    if wanted.update is True:
        if not update_all:
            yield _missing(f"UPDATE on {name}")
        return
    yield from _column_differences("UPDATE", wanted.update, update_columns, name)


def _column_differences(
    right: str, named: bool | tuple[str, ...], given: Collection[str], name: str
) -> Iterator[Problem]:
    wanted = () if isinstance(named, bool) else named
    for column in set(wanted) ^ set(given):
        kind = _too_much if column in given else _missing
        yield kind(f"{right} ({column}) on {name}")


def _missing(right: str) -> Problem:
    return Problem(f"missing: {right}")


def _too_much(right: str) -> Problem:
    return Problem(f"too much: {right}", is_harmless=True)


def _column(cursor: CursorWrapper, query: str) -> list[str]:
    cursor.execute(query)
    return [name for (name,) in cursor.fetchall()]
