"""What PostgreSQL counts of the work of others: statements, commits, flushes, WAL, rows.

Statements are counted by pg_stat_statements in sessions that begin within `counting`. A session
tells the other numbers once a second while it works, and ten seconds after it came to rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

from benchmarks import database
from benchmarks.errors import CannotMeasure

REST_SECONDS = 11
_SCHEMA = "bench_statements"
_STATEMENTS = f"{_SCHEMA}.pg_stat_statements"
# A superuser's own statements are the bench's. PostgreSQL itself writes those of foreign keys.
_OF_THE_PRODUCT = f"""
SELECT CASE WHEN query ~ '^SELECT .* FROM ONLY .* x WHERE .* FOR KEY SHARE OF x$' THEN 'check'
        WHEN toplevel THEN 'sent' ELSE 'inside' END AS kind,
    calls, rows, wal_bytes, total_exec_time, query
FROM {_STATEMENTS} AS said JOIN pg_roles AS role ON role.oid = said.userid AND NOT role.rolsuper
WHERE said.dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
"""  # noqa: S608  # our own names
_COUNTS = f"""
SELECT sent, checks, inside, xact_commit, fsyncs, wal_bytes, wal_fpi,
    inserted, updated, in_place, deleted
FROM (
    SELECT coalesce(sum(calls) FILTER (WHERE kind = 'sent'), 0) AS sent,
        coalesce(sum(calls) FILTER (WHERE kind = 'check'), 0) AS checks,
        coalesce(sum(calls) FILTER (WHERE kind = 'inside'), 0) AS inside
    FROM ({_OF_THE_PRODUCT}) AS said
) AS statements,
(SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()) AS commits,
(SELECT sum(fsyncs) AS fsyncs FROM pg_stat_io WHERE object = 'wal') AS flushes,
(SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS wal_bytes) AS written,
(SELECT wal_fpi FROM pg_stat_wal) AS images,
(SELECT sum(n_tup_ins) AS inserted, sum(n_tup_upd) AS updated, sum(n_tup_hot_upd) AS in_place,
    sum(n_tup_del) AS deleted FROM pg_stat_user_tables) AS changed
"""  # noqa: S608  # our own names
_LIST = f"""
SELECT kind, calls, rows, wal_bytes, total_exec_time,
    left(regexp_replace(query, '\\s+', ' ', 'g'), 200)
FROM ({_OF_THE_PRODUCT}) AS said ORDER BY kind DESC, calls DESC, query
"""  # noqa: S608  # our own names


@dataclass(frozen=True)
class Counts:
    """Numbers so far, or between two moments.

    `sent`: statements from outside, BEGIN and COMMIT among them; `checks`: those of foreign keys;
    `inside`: those of functions. `images`: whole pages in the WAL. `in_place`: updates that touched
    no index.
    """

    sent: float
    checks: float
    inside: float
    commits: float
    fsyncs: float
    wal_bytes: float
    images: float
    inserted: float
    updated: float
    in_place: float
    deleted: float

    def __sub__(self, earlier: Counts) -> Counts:
        return Counts(*(getattr(self, n) - getattr(earlier, n) for n in _NAMES))

    def each(self, count: float) -> Counts:
        """Of one of `count` pieces of work."""
        return Counts(*(getattr(self, name) / count for name in _NAMES))

    @property
    def statements(self) -> float:
        """All that ran."""
        return self.sent + self.checks + self.inside


_NAMES = [field.name for field in fields(Counts)]


@contextmanager
def counting() -> Iterator[None]:
    """Count the statements of the sessions that begin within the block. Raises CannotMeasure."""
    if not database.scalar(
        "SELECT count(*) FROM pg_available_extensions WHERE name = %(name)s",
        name="pg_stat_statements",
    ):
        raise CannotMeasure("pg_stat_statements is missing")
    database.execute(f"CREATE SCHEMA {_SCHEMA}")
    database.execute(f"CREATE EXTENSION pg_stat_statements SCHEMA {_SCHEMA}")
    _set("pg_stat_statements.track = 'all'", "compute_query_id = 'on'")
    try:
        forget()
        yield
    finally:
        _reset("pg_stat_statements.track", "compute_query_id")
        database.execute(f"DROP SCHEMA {_SCHEMA} CASCADE")


def forget() -> None:
    """Begin the list of statements anew."""
    database.execute(f"SELECT {_SCHEMA}.pg_stat_statements_reset()")


def counts() -> Counts:
    """What was counted so far."""
    with database.cursor() as cursor:
        cursor.execute(_COUNTS)
        return Counts(*map(float, cursor.fetchone()))


def write_statements(file: Path, *, each: float) -> None:
    """List the statements since the last `forget`: how often per piece of work, rows, bytes of WAL
    and milliseconds of each piece, and whether one was sent, is the check of a foreign key, or was
    made inside a function."""
    with database.cursor() as cursor:
        cursor.execute(_LIST)
        lines = [
            f"{calls / each:8.3f} {kind:6} {rows / each:8.3f} rows"
            f" {float(wal) / each:8.0f} B {took / each:7.3f} ms  {text}"
            for kind, calls, rows, wal, took, text in cursor.fetchall()
        ]
    file.write_text("\n".join(lines) + "\n")


def _set(*settings: str) -> None:
    for setting in settings:
        database.execute(f"ALTER DATABASE {_database()} SET {setting}")


def _reset(*names: str) -> None:
    for name in names:
        database.execute(f"ALTER DATABASE {_database()} RESET {name}")


def _database() -> str:
    with database.cursor() as cursor:
        cursor.execute("SELECT quote_ident(current_database())")
        return str(cursor.fetchone()[0])
