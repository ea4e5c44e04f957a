"""The database's time, `ballast_now()`, by which postings are dated and destructive sweeps decide.

Functions still take `now` as an argument, but the clock of a machine can be wrong. A wrong clock
must not delete anything or date the ledger into next year (decision 0120). In development, the
database's time can be set for a connection; the function of a production database ignores that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import wraps
from typing import ParamSpec, TypeVar, cast

from django.conf import settings
from django.db import connection
from django.db.models import DateTimeField, Func, Value
from django.db.models.functions import Least

from common.clock import text_of
from common.engine import sql
from common.engine.compiled import Given

P = ParamSpec("P")
T = TypeVar("T")

# A row that is dated further ahead of the database's time was not written by a process of ours:
# their clocks are within seconds of it (`common.drift`).
AHEAD = "interval '5 minutes'"

_NOW = "SELECT ballast_now()"
_IS_SETTABLE = "SELECT ballast_clock_is_settable()"
_CURRENT = "SELECT coalesce(current_setting('ballast.now', true), '')"
_SET = "SELECT set_config('ballast.now', %(text)s, %(is_local)s)"
# PARALLEL UNSAFE would forbid parallel plans around it. A parallel worker has the settings of its
# leader.
_MAKE_SETTABLE = """
CREATE OR REPLACE FUNCTION ballast_now() RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
SELECT coalesce(
    nullif(pg_catalog.current_setting('ballast.now', true), '')::timestamptz,
    pg_catalog.statement_timestamp()
)
$$;
CREATE OR REPLACE FUNCTION ballast_clock_is_settable() RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS 'SELECT true';
"""


class ClockIsNotSettable(RuntimeError):
    """Somebody tried to set the database's time where that is not allowed."""


def database_now() -> datetime:
    """The database's time at which the statement arrived there, or the time that development has
    set."""
    ((now,),) = sql.rows(_NOW, {})
    instant: datetime = now
    return instant


def capped(now: datetime) -> datetime:
    """`now`, but not later than the database's time. One round trip.

    For code that ends or deletes something because time has passed: with a clock that is ahead, it
    then does so no earlier than with a right one.
    """
    return min(now, database_now())


def judged(sweep: Callable[P, T]) -> Callable[P, T]:
    """Run `sweep` with its keyword `now` capped once, at the beginning.

    What the sweep deletes, ends, retries later or leases is then never dated after the database's
    time.
    """

    @wraps(sweep)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        kwargs["now"] = capped(cast(datetime, kwargs["now"]))
        return sweep(*args, **kwargs)

    return run


def expression(now: datetime | Given) -> Least:
    """`capped(now)` inside a query, without a round trip of its own."""
    moment = now if isinstance(now, Given) else Value(now, output_field=DateTimeField())
    return Least(moment, DatabaseNow())


class DatabaseNow(Func):
    """The database's time inside a query."""

    function = "ballast_now"
    template = "%(function)s()"
    output_field = DateTimeField()


def is_settable() -> bool:
    """Whether the time of this database can be set on the connection."""
    ((answer,),) = sql.rows(_IS_SETTABLE, {})
    return bool(answer)


def make_settable() -> None:
    """Give this database the functions by which its time can be set. Its owner has to run this.

    Raises ClockIsNotSettable outside development.
    """
    if not settings.SETTABLE_DATABASE_CLOCK:
        raise ClockIsNotSettable("Only a development copy (DEBUG=True) may set the database's time")
    with connection.cursor() as cursor:
        cursor.execute(_MAKE_SETTABLE)


@contextmanager
def at(moment: datetime) -> Iterator[None]:
    """In this block, the database's time on this thread's connection is `moment`.

    Inside a transaction it is set for this transaction, otherwise for the connection until the
    block ends. Blocks nest. Raises ClockIsNotSettable outside development, and on a database whose
    owner has not allowed it (`manage.py settable_clock`).
    """
    if not settings.SETTABLE_DATABASE_CLOCK or not is_settable():
        raise ClockIsNotSettable(
            "This database keeps its own time. In a development copy, `manage.py settable_clock`"
            " lets tests and demonstrations choose it."
        )
    ((before,),) = sql.rows(_CURRENT, {})
    _set(text_of(moment))
    try:
        yield
    finally:
        _restore(before)


def _restore(text: str) -> None:
    """Set the time back. A broken transaction or connection undoes the setting when it ends."""
    if connection.connection is None or connection.connection.closed:
        return
    if not connection.needs_rollback:
        _set(text)


def _set(text: str) -> None:
    sql.rows(_SET, {"text": text, "is_local": connection.in_atomic_block})
