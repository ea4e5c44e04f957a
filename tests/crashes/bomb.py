"""Ends the database connection at a chosen database call, as a failover or a kill would.

Every call of the product to PostgreSQL goes through one of the four methods hooked here: hot
statements, savepoints, COMMIT and ROLLBACK, and Django's cursor. The server's process is ended from
another connection, so what the product meets is the real thing: no exception is made up.
"""

from __future__ import annotations

import enum
import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.conf import settings
from psycopg import Connection

from common.engine.postgresql import direct, fast, prepared
from tests.settings import TEST_SUPERUSER

_WAIT_MS = 5000
_END = "SELECT pg_terminate_backend(%s)"
_CURSOR: tuple[type[Any], str] = (fast.Cursor, "execute")


class Moment(enum.Enum):
    """When the connection ends."""

    BEFORE = "before"  # the server never hears of the call
    UNANSWERED = "unanswered"  # the server did what was asked, and its answer is lost


class Bomb:
    """Counts database calls; while `armed`, ends the connection at one of them."""

    def __init__(self) -> None:
        self.calls = 0
        self.has_gone_off = False
        self._at: int | None = None
        self._moment = Moment.BEFORE
        self._is_counting = False

    @contextmanager
    def armed(self, *, at: int | None, moment: Moment = Moment.BEFORE) -> Iterator[Bomb]:
        """End the connection at the `at`-th call from now, the first being 1; None only counts."""
        self.calls, self.has_gone_off = 0, False
        self._at, self._moment, self._is_counting = at, moment, True
        try:
            yield self
        finally:
            self._is_counting = False

    def call(self, connection: Connection[Any], real: Callable[[], Any]) -> Any:
        """Make one database call of the product, or end its connection at it."""
        if not self._is_counting:
            return real()
        self.calls += 1
        if self.calls != self._at:
            return real()
        self.has_gone_off = True
        if self._moment is Moment.BEFORE:
            end(connection)
            return real()
        answer = real()
        end(connection)
        _lose(connection)
        return answer


@contextmanager
def planted(bomb: Bomb | None = None) -> Iterator[Bomb]:
    """A bomb in every database call of this process."""
    bomb = bomb or Bomb()
    places: list[tuple[type[Any], str]] = [
        (direct.Direct, name) for name in ("rows", "command", "end")
    ]
    hooked = [(owner, name, getattr(owner, name)) for owner, name in [*places, _CURSOR]]
    for owner, name, method in hooked:
        setattr(owner, name, _hook(bomb, method))
    try:
        yield bomb
    finally:
        for owner, name, method in hooked:
            setattr(owner, name, method)


def end(connection: Connection[Any]) -> None:
    """End the server's process of a connection, and wait until it is gone."""
    closing = select.poll()
    closing.register(connection.fileno(), select.POLLRDHUP)  # its last act is to close the socket
    try:
        _elsewhere(connection).execute(_END, (connection.info.backend_pid,))
    except psycopg.Error as error:  # the product must not take it for its own
        raise AssertionError(f"the bomb does not work: {error}") from error
    assert closing.poll(_WAIT_MS), "the server's process did not end"


def _hook(bomb: Bomb, method: Callable[..., Any]) -> Callable[..., Any]:
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        connection = self._connection if isinstance(self, direct.Direct) else self.connection
        return bomb.call(connection, lambda: method(self, *args, **kwargs))

    return run


def _lose(connection: Connection[Any]) -> None:
    """Meet the end of the connection as if its news came instead of the answer."""
    prepared.checked(connection.pgconn.exec_(b"SELECT 1"))
    raise AssertionError("the connection should be gone")


class _Elsewhere:
    connection: psycopg.Connection[Any] | None = None


def _elsewhere(connection: Connection[Any]) -> psycopg.Connection[Any]:
    """A connection of our own to the same server, outside of every test database.

    It belongs to the superuser, who alone may end what each of the product's logins has begun.
    """
    if _Elsewhere.connection is None or _Elsewhere.connection.closed:
        _Elsewhere.connection = psycopg.connect(
            host=connection.info.host,
            port=connection.info.port,
            user=TEST_SUPERUSER,
            password=settings.DATABASES["default"]["PASSWORD"],
            dbname="postgres",
            autocommit=True,
        )
    return _Elsewhere.connection
