"""Replaces time, chance, the database calls and the broker that the product uses.

The replacements are installed at run time and removed again; the product does not know of them.
Outside of a simulated process everything behaves as always.
"""

from __future__ import annotations

import base64
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, tzinfo
from functools import partial, wraps
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import psycopg
from psycopg.pq import TransactionStatus

from api import throttling
from approvals import links
from balance import rolling, selectors
from common import clock, crypto, ids, leases
from common.engine import cooldown, wakeups
from common.engine.postgresql import direct, fast
from seals import rounds, windows
from simulation.processes import CallKind, current
from tenants import key_text
from tenants.services import emails
from transfers import batches, submission
from webhooks import signing, wake
from webhooks.dispatcher import loop, runs

Seam = tuple[Any, str, Any]

# When, in the world's time, the last transaction of each backend began.
_began: dict[int, datetime] = {}

_PLACE_LENGTH = 72
_SAVEPOINT = re.compile(r'"?s\d+_x\d+"?')  # Django names them after the thread
_WRITES = re.compile(r"\b(INSERT|UPDATE|DELETE|LOCK|FOR SHARE|DO|balance_\w+\()")
_ENDS = ("COMMIT", "ROLLBACK")
_SETUP = Random("the world before its first process")


class Time:
    """The world's clock, and what each process believes the time to be."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def seen(self, zone: tzinfo | None = None) -> datetime:
        process = current()
        moment = self.now if process is None else self.now + process.drift
        return moment.astimezone(zone)


@contextmanager
def installed(
    world_time: Time, *, seed: str, wake_up: Callable[[str, dict[str, Any]], None]
) -> Iterator[None]:
    """In this block, the product gets its time, chance and broker from the simulation."""
    _SETUP.seed(seed)
    broker: list[Seam] = [
        (wakeups._sender, "add", lambda name, arguments, **_how: wake_up(name, arguments)),
        (wake, "dispatchers", lambda: wake_up("webhooks.sweep", {})),
    ]
    orders = [
        (selectors, name, _in_order(getattr(selectors, name)))
        for name in ("low_tenants", "recovered_tenants")
    ]
    limits: list[Seam] = [
        (throttling.KeyRateThrottle.buckets, "take", lambda _name, rate: (True, float(rate)))
    ]
    with ExitStack() as stack:
        for target, name, value in [
            *_clocks(world_time),
            *_dice(),
            *_database_calls(world_time),
            *broker,
            *limits,
            *orders,
        ]:
            stack.enter_context(patch.object(target, name, value))
        yield


def _in_order(real: Callable[..., list[str]]) -> Callable[..., list[str]]:
    """Sort the result of a query without an order: PostgreSQL's own order does not follow from the
    seed."""

    @wraps(real)
    def ordered(**given: Any) -> list[str]:
        return sorted(real(**given))

    return ordered


def _clocks(world_time: Time) -> Iterator[Seam]:
    moment = SimpleNamespace(now=world_time.seen, fromisoformat=datetime.fromisoformat)
    yield clock, "datetime", moment
    ticks = _like(
        time,
        time_ns=lambda: round(world_time.seen().timestamp() * 1_000_000) * 1_000,
        monotonic=lambda: world_time.now.timestamp(),
    )
    for module in (ids, leases, loop, runs, cooldown, batches, submission, emails, rounds, windows):
        yield module, "time", ticks
    yield rolling, "run", partial(rolling.run, clock=ticks.monotonic)
    yield from _beginnings(world_time)


def _beginnings(world_time: Time) -> Iterator[Seam]:
    """Answer in the world's time when a transaction began. The seals ask PostgreSQL, which would
    answer in real time."""
    real = windows._running

    def running() -> dict[str, Any]:
        backends: Any = real()
        return {name: _began.get(backend, world_time.now) for name, backend in backends.items()}

    yield windows, "_RUNNING", windows._RUNNING.replace("activity.xact_start", "activity.pid")
    yield windows, "_running", running


def _dice() -> Iterator[Seam]:
    yield ids, "os", _like(os, urandom=_bytes)
    chances = _like(
        secrets,
        token_bytes=_bytes,
        randbelow=lambda limit: _chance().randrange(limit),
        token_urlsafe=lambda size: base64.urlsafe_b64encode(_bytes(size)).rstrip(b"=").decode(),
    )
    for module in (ids, crypto, links, key_text, signing):
        yield module, "secrets", chances
    yield loop, "_random", SimpleNamespace(random=lambda: _chance().random())
    yield loop, "_DATABASE_AWAY_SECONDS", 0.0


def _database_calls(world_time: Time) -> Iterator[Seam]:
    for name in ("rows", "command", "end"):
        real = getattr(direct.Direct, name)
        yield direct.Direct, name, _stopping(real, lambda made: made._connection, world_time)
    for name in ("execute", "executemany"):
        real = getattr(fast.Cursor, name)
        yield fast.Cursor, name, _stopping(real, lambda cursor: cursor.connection, world_time)


def _stopping(
    real: Callable[..., Any], connection_of: Callable[[Any], Any], world_time: Time
) -> Callable[..., Any]:
    """`real`, with a place before and after it at which a simulated process can be stopped."""

    @wraps(real)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        process, connection = current(), connection_of(self)
        if process is None:  # who makes the world and judges it lives in its time as well
            _set_clock(connection, world_time)
            return real(self, *args, **kwargs)
        text = _text(args[0] if args else kwargs["query"])
        kind = _kind(text, connection)

        def act() -> Any:
            _set_clock(connection, world_time)
            return real(self, *args, **kwargs)

        return process.call(connection, kind, _place(text), act)

    return call


def _set_clock(connection: psycopg.Connection[Any], world_time: Time) -> None:
    """Set the database to the world's time at the beginning of each transaction, as `now()` is."""
    if connection.pgconn.transaction_status == TransactionStatus.IDLE:
        moment = clock.text_of(world_time.now)
        _began[connection.info.backend_pid] = world_time.now
        connection.pgconn.exec_(f"SET ballast.now = '{moment}'".encode())


def _kind(text: str, connection: psycopg.Connection[Any]) -> CallKind:
    """What the statement may do to locks. When in doubt, it may."""
    is_alone = connection.pgconn.transaction_status == TransactionStatus.IDLE
    return CallKind(
        may_wait=_WRITES.search(text) is not None,
        may_free=is_alone or text.startswith(_ENDS) or "unlock" in text,
    )


def _text(statement: Any) -> str:
    return statement.decode() if isinstance(statement, bytes) else str(statement)


def _place(text: str) -> str:
    """The name of a call: the beginning of its statement, without what differs from run to run."""
    return _SAVEPOINT.sub("…", " ".join(text.split())[:_PLACE_LENGTH])


def _like(module: Any, **changed: Any) -> SimpleNamespace:
    """A copy of `module` with some of its functions replaced."""
    return SimpleNamespace(**{**vars(module), **changed})


def _chance() -> Random:
    process = current()
    return _SETUP if process is None else process.chance


def _bytes(size: int) -> bytes:
    return _chance().randbytes(size)
