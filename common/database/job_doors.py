"""The way of a job to the database: under a login that may do what the job needs and nothing else
(decision 0180).

What belongs to a job says so: `@job_doors.by(jobs.DISPATCHER)`. Whoever calls it, a process of that
job, another process or a test, then works under that login.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.utils.module_loading import import_string

from common.engine import sql

if TYPE_CHECKING:  # Celery loads this module before there are settings, which backends need
    from common.engine.postgresql.wrapper import Wrapper

P = ParamSpec("P")
T = TypeVar("T")


class JobDoor(Protocol):
    """How a thread takes the role of a job."""

    def open(self, job: str) -> AbstractContextManager[None]: ...

    def outside(self) -> AbstractContextManager[None]: ...

    def close(self) -> None: ...


def of(job: str) -> AbstractContextManager[None]:
    """A block whose statements run under the job's login.

    Nothing changes where the job has none, inside of a transaction, which is on one connection, and
    in a request that sees one tenant.
    """
    return _door().open(job)


def outside() -> AbstractContextManager[None]:
    """A block whose statements run under the login that the process has, in the midst of a job's.

    Nothing changes outside of a block of `of`, and inside of a transaction, which stays.
    """
    return _door().outside()


def by(job: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Make a function one of the job's: it runs in a block of `of`."""

    def decorated(work: Callable[P, T]) -> Callable[P, T]:
        @wraps(work)
        def run(*args: P.args, **kwargs: P.kwargs) -> T:
            with of(job):
                return work(*args, **kwargs)

        return run

    return decorated


def become(job: str) -> None:
    """Let this process work under the job's login from its next connections on. Nothing changes
    where the job has none."""
    login = settings.DATABASE_JOBS.get(job)
    if login is not None:
        connections.close_all()
        connections.settings[DEFAULT_DB_ALIAS].update(login)


def close() -> None:
    """Close this thread's connections of jobs; the next block opens new ones."""
    _door().close()


@cache
def _door() -> JobDoor:
    return cast("JobDoor", import_string(settings.DATABASE_JOB_DOOR)())


class Logins(threading.local):
    """A connection for each job that a thread does besides its own."""

    def __init__(self) -> None:
        self._others: dict[str, Wrapper] = {}
        self._own: Any = None  # the process's connection, while a job's is used

    @contextmanager
    def open(self, job: str) -> Iterator[None]:
        usual: Any = connections[DEFAULT_DB_ALIAS]
        login = settings.DATABASE_JOBS.get(job)
        if login is None or _stays(usual, login):
            yield
            return
        if job not in self._others:
            given = {**usual.settings_dict, **login, "OPTIONS": {**usual.settings_dict["OPTIONS"]}}
            self._others[job] = _wrapper_of(job)(given)
        other, own = self._others[job], self._own
        self._own = own or usual
        _use(other)
        try:
            yield
        finally:
            _use(usual)
            self._own = own
            other.close_if_unusable_or_obsolete()

    @contextmanager
    def outside(self) -> Iterator[None]:
        own, used = self._own, connections[DEFAULT_DB_ALIAS]
        if own is None or used.in_atomic_block:
            yield
            return
        self._own = None
        _use(own)
        try:
            yield
        finally:
            _use(used)
            self._own = own

    def close(self) -> None:
        for other in self._others.values():
            other.close()


def _stays(usual: Any, login: dict[str, str]) -> bool:
    from common.engine.postgresql.walled import WalledWrapper

    is_there = usual.settings_dict["USER"] == login["USER"]
    return is_there or usual.in_atomic_block or isinstance(usual, WalledWrapper)


@cache
def _wrapper_of(job: str) -> type[Wrapper]:
    """A class with pools of its own: Django keeps them by alias, which is the same for all."""
    from common.engine.postgresql.base import DatabaseWrapper

    return type(f"{job.title()}Wrapper", (DatabaseWrapper,), {"_connection_pools": {}})


def _use(wrapper: Any) -> None:
    connections[DEFAULT_DB_ALIAS] = wrapper
    sql.forget_connection()
