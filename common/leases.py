"""Rows as a queue: claim what is due, work outside any transaction, then record the result.

A claim takes a lease and raises `lease_version`. A result is recorded only where the version is
still the claimed one, so a worker that slept past its lease cannot overwrite its successor.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, TypeVar

from django.db import models, transaction
from django.db.models import F, Q, QuerySet

from common import database_clock
from common.engine import sql

LEASE = timedelta(seconds=60)
PAGE = 200
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)

_DUE = """
SELECT next_attempt_at, id FROM {table}
WHERE next_attempt_at <= least(%(now)s, ballast_now())
    AND (leased_until IS NULL OR leased_until <= least(%(now)s, ballast_now()))
    AND (next_attempt_at, id) > (%(time)s, %(id)s)
ORDER BY next_attempt_at, id LIMIT {limit}
"""


class Leased(models.Model):
    """The columns of a row that is also due work. If `next_attempt_at` is null, there is nothing to
    do."""

    next_attempt_at = models.DateTimeField(null=True, blank=True)
    leased_until = models.DateTimeField(null=True, blank=True)
    lease_version = models.IntegerField(default=0)
    attempts = models.IntegerField(default=0)

    # The condition of the partial index that finds queued rows.
    QUEUED: ClassVar[Q] = Q(next_attempt_at__isnull=False)

    class Meta:
        abstract = True


Row = TypeVar("Row", bound=Leased)


def due(model: type[Row], *, now: datetime) -> Iterator[list[str]]:
    """The ids of due rows, oldest first, in pages of at most `PAGE`. A sweep runs this every few
    seconds, mostly in vain, so it takes no lock and looks only at the queue. The claim of these
    rows checks everything else."""
    statement = _DUE.format(table=model._meta.db_table, limit=PAGE)
    last = (_LONG_AGO, "")
    while page := sql.rows(statement, {"now": now, "time": last[0], "id": last[1]}):
        yield [pk for _, pk in page]
        if len(page) < PAGE:
            break
        last = page[-1][0], page[-1][1]


def is_due(now: datetime) -> Q:
    """A filter for rows to be worked on now: their time has come, and nobody holds them. With a
    clock that is ahead of the database's it finds no more rows than with a right one, and takes
    nobody's lease."""
    moment = database_clock.expression(now)
    return Q(next_attempt_at__lte=moment) & (Q(leased_until=None) | Q(leased_until__lte=moment))


def claim(
    queryset: QuerySet[Row],
    *,
    now: datetime,
    limit: int,
    lease: timedelta = LEASE,
    since: float | None = None,
) -> list[Row]:
    """Lease up to `limit` due rows of `queryset`, oldest due first.

    `since` is when (`time.monotonic`) a sweep that claims several times got its `now`. The lease is
    longer by the seconds since then; otherwise one that is claimed late would be over too early.

    Two workers never claim the same row (SKIP LOCKED). A row whose lease ran out is claimed again.
    Raises RuntimeError inside a transaction, because the lease must be committed before anybody is
    called.
    """
    if since is not None:
        lease += timedelta(seconds=int(time.monotonic() - since))
    with transaction.atomic(durable=True):
        rows = list(
            queryset.filter(is_due(now))
            .order_by("next_attempt_at", "pk")
            .select_for_update(skip_locked=True, of=("self",), no_key=True)[:limit]
        )
        queryset.model._default_manager.filter(pk__in=[row.pk for row in rows]).update(
            leased_until=database_clock.expression(now) + lease,
            lease_version=F("lease_version") + 1,
            attempts=F("attempts") + 1,
        )
    for row in rows:
        row.leased_until = now + lease
        row.lease_version += 1
        row.attempts += 1
    return rows


def finish(row: Leased, **changes: Any) -> bool:
    """Give the lease back and record `changes` in the same statement.

    Returns False, and changes nothing, if the lease is no longer ours. `next_attempt_at` becomes
    null (done) unless `changes` has it.
    """
    changes = {"next_attempt_at": None, "leased_until": None, **changes}
    held = type(row)._default_manager.filter(pk=row.pk, lease_version=row.lease_version)
    if held.update(**changes, lease_version=F("lease_version") + 1) == 0:
        return False
    row.lease_version += 1
    for name, value in changes.items():
        setattr(row, name, value)
    return True
