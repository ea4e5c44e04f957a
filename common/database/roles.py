"""What is wrong with the roles of the product: rights that are missing or too much (decision 0114).
`grants` makes them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from django.conf import settings
from django.db import Error as DatabaseProblem
from django.db import connection

from common.database import grants, jobs, rights, walls
from common.database.job_rights import needs_of
from common.database.rights import Needs, Rights

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


class Problem(NamedTuple):
    """Something wrong with the role we are connected as. `is_harmless`: it has more rights than it
    needs, so nothing fails."""

    words: str
    is_harmless: bool = False


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
    found = _login_problems(api, "DATABASE_API_URL", grants.of_api())
    who = grants.who(settings.DATABASE_APPLICATION_ROLE, api)
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
        if may != (grants.name_of(signature) in wanted):
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
        closed = grants.column(cursor, _NOT_EXECUTABLE)
        there = {grants.name_of(signature) for signature in grants.column(cursor, grants.FUNCTIONS)}
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
    if not select:  # else every column may be read
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
