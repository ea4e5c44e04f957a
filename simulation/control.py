"""The simulation's own connection: it sees who waits for whom, and cuts connections."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

from simulation.plants import planted

_WAITS = "SELECT pid, pg_blocking_pids(pid) FROM unnest(%s::int[]) AS pid"
_TERMINATE = "SELECT pg_terminate_backend(%s, 10000)"
_DEFINITION = "SELECT pg_get_functiondef(%s::regproc)"
_CANCEL = "SELECT pg_cancel_backend(%s)"
_FILLED = """
SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')
    AND c.relname <> ALL (%s) AND pg_relation_size(c.oid) > 0
"""
_TABLES = """
SELECT c.oid::regclass::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND n.nspname = 'public'
"""
_KEPT = ["django_content_type", "auth_permission", "django_migrations"]


class Control:
    """Connected as a superuser: it ends other people's connections and empties every table."""

    def __init__(self, address: str = "", **target: Any) -> None:
        self._connection = psycopg.connect(address, autocommit=True, **target)
        self._is_here = _is_postgres(self._connection.info.backend_pid)

    def waits(self, backends: Iterable[int]) -> Mapping[int, Sequence[int]]:
        """Of each backend, those that it waits for."""
        return dict(self._connection.execute(_WAITS, [list(backends)]).fetchall())

    def terminate(self, backend: int) -> None:
        """Cut the connection; returns once its locks are free."""
        self._connection.execute(_TERMINATE, [backend])

    def cancel(self, backend: int) -> None:
        """End the statement that runs there."""
        self._connection.execute(_CANCEL, [backend])

    def freeze(self, backend: int | None) -> None:
        """A backend that waits goes on only when it is told to, even if its lock is free."""
        self._signal(backend, signal.SIGSTOP)

    def thaw(self, backend: int | None) -> None:
        self._signal(backend, signal.SIGCONT)

    def _signal(self, backend: int | None, number: signal.Signals) -> None:
        """On a server of another machine several that are freed at once race for what they want,
        and a seed may not give the same history twice."""
        if backend is not None and self._is_here:
            with suppress(ProcessLookupError):
                os.kill(backend, number)

    def prepare(self) -> None:
        """Leave deadlocks to the scheduler, which sees them at once, and keep plans as they are."""
        name = self._connection.info.dbname
        for setting in ("deadlock_timeout = '1h'", "jit = off", "synchronous_commit = off"):
            self._connection.execute(f'ALTER DATABASE "{name}" SET {setting}')
        for (table,) in self._connection.execute(_TABLES).fetchall():
            self._connection.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)")

    @contextmanager
    def changed(self, functions: Mapping[str, tuple[str, str]]) -> Iterator[None]:
        """With other functions of the database: of each, one text and what takes its place."""
        originals = {name: self._definition(name) for name in functions}
        try:
            for name, edit in functions.items():
                self._connection.execute(planted(originals[name], *edit).encode())
            yield
        finally:
            for original in originals.values():
                self._connection.execute(original.encode())

    def _definition(self, name: str) -> str:
        found = self._connection.execute(_DEFINITION, [name]).fetchone()
        return str(found[0]) if found else ""

    def forget_everything(self) -> None:
        """Empty every table that holds something, and start its numbers again."""
        filled = [name for (name,) in self._connection.execute(_FILLED, [_KEPT]).fetchall()]
        if not filled:
            return
        with self._connection.transaction():
            self._connection.execute("SET LOCAL session_replication_role = replica")
            statement = f"TRUNCATE {', '.join(filled)} RESTART IDENTITY CASCADE"
            self._connection.execute(statement)

    def close(self) -> None:
        self._connection.close()


def _is_postgres(backend: int) -> bool:
    """Whether the process of this number is a PostgreSQL of this machine that obeys us."""
    try:
        name = Path(f"/proc/{backend}/comm").read_text().strip()
        os.kill(backend, 0)
    except OSError:
        return False
    return name.startswith("postgres")
