"""Many threads at one moment, each with a database connection of its own; and rounds of that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Lock
from time import monotonic
from typing import Any

import pytest
from django.db import connection

# A crowd at one row stands in line for longer than a request may, on a busy machine much longer.
_PATIENT = "SET lock_timeout = '60s'"
# PostgreSQL greets a crowd that comes at once more slowly than it greets one after the other.
_DOOR = Lock()
# Who waits for a lock in this database; others on the same server are no concern of a test. The
# lock of another transaction names no database, but who waits for that has locked tables of one.
WAITING_HERE = """
FROM pg_locks WHERE NOT granted AND pid IN (
    SELECT pid FROM pg_locks AS here JOIN pg_database ON pg_database.oid = here.database
    WHERE datname = current_database()
)
"""
_WAITING = f"""
SELECT pg_sleep(0.01), count(*) {WAITING_HERE}
    AND pg_backend_pid() = ANY (pg_blocking_pids(pid))
"""
_LOOKS_MAX = 3_000
_TURNS_SECONDS = 120


def together(act: Callable[[int], Any], *, workers: int) -> list[Any]:
    """What `act(worker)` returned or raised in each worker, none of which starts before all do."""
    start = Barrier(workers)

    def run(worker: int) -> Any:
        try:
            _connect(start)
            start.wait()
            return act(worker)
        except Exception as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(run, range(workers)))


def _connect(start: Barrier) -> None:
    """Those who could would wait for one who cannot for ever."""
    try:
        with _DOOR, connection.cursor() as cursor:
            cursor.execute(_PATIENT)
    except Exception:
        start.abort()
        raise


def turns() -> Iterator[None]:
    """For a loop in a worker: turns until it has taken too long, as it does when another worker
    has failed. A test's time limit ends no thread but its own."""
    deadline = monotonic() + _TURNS_SECONDS
    while monotonic() < deadline:
        yield
    raise AssertionError(f"not done within {_TURNS_SECONDS} seconds")


def wait_for_a_lock() -> None:
    """Until another connection waits for what ours has locked; half a minute at most."""
    with connection.cursor() as cursor:
        for _ in range(_LOOKS_MAX):
            cursor.execute(_WAITING)
            if cursor.fetchone()[1]:
                return
    raise AssertionError("nobody waits")


def rounds(count: int, *, quick: int = 1) -> pytest.MarkDecorator:
    """Run the race `count` times, the first `quick` rounds among the quick tests, and the second
    half of all rounds at night only."""
    half = max(count // 2, quick)
    slow = [pytest.param(number, marks=pytest.mark.slow) for number in range(quick, half)]
    marks = (pytest.mark.slow, pytest.mark.nightly)
    nightly = [pytest.param(number, marks=marks) for number in range(half, count)]
    return pytest.mark.parametrize("round_", [*range(quick), *slow, *nightly])
