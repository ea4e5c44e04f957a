"""The simulation's own connection. It sees which backend waits for which, and ends connections."""

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
_KEPT = [
    "django_content_type",
    "auth_permission",
    "django_migrations",
    "rails_rail",
    "rails_route",
]


class Control:
    """A superuser's connection, which ends other connections and empties every table."""

    def __init__(self, address: str = "", **target: Any) -> None:
        self._connection = psycopg.connect(address, autocommit=True, **target)
        self._is_here = _is_postgres(self._connection.info.backend_pid)

    def waits(self, backends: Iterable[int]) -> Mapping[int, Sequence[int]]:
        """For each of these backends, those that it waits for."""
        return dict(self._connection.execute(_WAITS, [list(backends)]).fetchall())

    def terminate(self, backend: int) -> None:
        """End the connection of a backend; returns once its locks are free."""
        self._connection.execute(_TERMINATE, [backend])

    def cancel(self, backend: int) -> None:
        """Cancel the statement that a backend runs."""
        self._connection.execute(_CANCEL, [backend])

    def freeze(self, backend: int | None) -> None:
        """Stop a backend that waits for a lock, so that it goes on only when `thaw` lets it, even
        if the lock is free."""
        self._signal(backend, signal.SIGSTOP)

    def thaw(self, backend: int | None) -> None:
        self._signal(backend, signal.SIGCONT)

    def _signal(self, backend: int | None, number: signal.Signals) -> None:
        """Send a signal to the backend's process. That works only on this machine. On another one,
        several backends that are freed at once race, and a seed may not give the same history
        twice."""
        if backend is not None and self._is_here:
            with suppress(ProcessLookupError):
                os.kill(backend, number)

    def prepare(self) -> None:
        """Leave the detection of deadlocks to the scheduler, which sees them at once, and keep
        query plans fixed."""
        name = self._connection.info.dbname
        for setting in ("deadlock_timeout = '1h'", "jit = off", "synchronous_commit = off"):
            self._connection.execute(f'ALTER DATABASE "{name}" SET {setting}')
        for (table,) in self._connection.execute(_TABLES).fetchall():
            self._connection.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)")

    @contextmanager
    def changed(self, functions: Mapping[str, tuple[str, str]]) -> Iterator[None]:
        """In this block, replace text in the database's functions: for each function an old text
        and a new one."""
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
        """Empty every table that has rows, and restart its sequences."""
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
    """Whether the process of this number is a PostgreSQL backend on this machine that we may
    signal."""
    try:
        name = Path(f"/proc/{backend}/comm").read_text().strip()
        os.kill(backend, 0)
    except OSError:
        return False
    return name.startswith("postgres")
