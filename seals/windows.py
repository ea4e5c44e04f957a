"""Says up to which moment rows can be sealed: no row may be added before it later.

A process dates its rows within `SETTLED_AFTER` of the start of its transaction: a task ends after
120 s, a request after 30 s, and a process whose clock is off by more than 5 s pauses. So every row
that is not visible yet will be dated after the start of the oldest running transaction, less
`SETTLED_AFTER`. That is the bound. It needs no order of commits, no transaction ids and no
sequence, so it survives dump and restore.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from common.clock import parse, text_of
from common.sealed import DatedRows

SETTLED_AFTER = timedelta(minutes=5)
# A round holds a transaction open: this many rows take some seconds.
ROWS_MAX = 50_000
# Retention deletes whole windows, so they are short.
SPAN_OF_KEPT = timedelta(days=1)
_SPAN_MIN = timedelta(seconds=1)

# PostgreSQL hides from us when a transaction of another role began, but not that it runs.
WAIT_SECONDS = 5.0
_LOOK_EVERY = 0.05

# A transaction holds the lock of its virtual id from its first moment until its rows are visible.
# PostgreSQL caches pg_stat_activity for the whole transaction, unless it is cleared.
_RUNNING = """
SELECT lock.virtualtransaction, activity.xact_start
FROM (SELECT pg_stat_clear_snapshot()) AS fresh
CROSS JOIN pg_locks AS lock
JOIN pg_stat_activity AS activity ON activity.pid = lock.pid
WHERE lock.locktype = 'virtualxid' AND lock.virtualxid = lock.virtualtransaction
    AND activity.datname = current_database() AND activity.usesysid IS NOT NULL
    AND activity.pid <> pg_backend_pid()
"""


@dataclass(frozen=True, kw_only=True)
class Window:
    """Rows dated from `since` (None: from the beginning) to just before `until`."""

    layout: int
    since: datetime | None
    until: datetime

    def stored(self) -> list[Any]:
        """The window as a round stores it."""
        return [self.layout, self.since and text_of(self.since), text_of(self.until)]

    @classmethod
    def read(cls, stored: list[Any]) -> Window:
        """The windows that a round stored."""
        layout, since, until = stored
        return cls(layout=layout, since=parse(since) if since else None, until=parse(until))


def bound(now: datetime) -> datetime | None:
    """No row that is not visible yet will be dated before this moment. Call it first in a
    transaction.

    None while a transaction whose start we may not see is still running: then nobody can say.
    """
    running = _running()
    ends = time.monotonic() + WAIT_SECONDS
    while any(start is None for start in running.values()):
        if time.monotonic() > ends:
            return None
        time.sleep(_LOOK_EVERY)
        running = {name: start for name, start in running.items() if name in _running()}
    return min([now, *filter(None, running.values())]) - SETTLED_AFTER


def _running() -> dict[str, datetime | None]:
    """The running transactions of other sessions, and since when they run."""
    with connection.cursor() as cursor:
        cursor.execute(_RUNNING)
        return dict(cursor.fetchall())


def following(kind: DatedRows, last: Window | None, upto: datetime) -> Window:
    """The window after `last`, up to `upto` or to as many rows as a round may read."""
    start = last.until if last else min(_first(kind) or upto, upto)
    until = max(upto, start)
    # The first window begins before all rows, or, where old rows are deleted, with the first row.
    since = start if last or kind.kept_for else None
    if kind.kept_for:
        until = min(until, start + SPAN_OF_KEPT)
    while until - start > _SPAN_MIN and _is_too_much(kind, start, until):
        until = start + (until - start) / 2
    return Window(layout=kind.layout, since=since, until=until)


def _first(kind: DatedRows) -> datetime | None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT min({kind.at}) FROM {kind.table}")  # noqa: S608  # our own text
        first: datetime | None = cursor.fetchone()[0]
    return first


def _is_too_much(kind: DatedRows, start: datetime, until: datetime) -> bool:
    """Whether a window has too many rows. Reads no more of them than it must."""
    statement = f"""
        SELECT count(*) FROM (
            SELECT FROM {kind.table} WHERE {kind.at} >= %(start)s AND {kind.at} < %(until)s LIMIT %(most)s
        ) AS found
    """  # noqa: S608, E501  # our own text
    with connection.cursor() as cursor:
        cursor.execute(statement, {"start": start, "until": until, "most": ROWS_MAX + 1})
        return bool(cursor.fetchone()[0] > ROWS_MAX)
