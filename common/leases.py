"""Rows as a queue: claim what is due, work outside any transaction, then record the result.

A claim takes a lease and raises `lease_version`. A result is recorded only where the version is
still the claimed one, so a worker that slept past its lease cannot overwrite its successor.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar, TypeVar

from django.db import models, transaction
from django.db.models import F, Q, QuerySet

from common import database_clock
from common.engine import arrays, sql
from common.engine.compiled import Given
from common.engine.lookups import one_of

LEASE = timedelta(seconds=60)

# Locked in the order of the ids, as everybody does who locks several rows of one table.
_FINISH_MANY = """
WITH held AS MATERIALIZED (
    SELECT row.id, given.due FROM {table} AS row
    JOIN unnest(%(ids)s::text::text[], %(versions)s::text::int[], %(due)s::text::timestamptz[])
        AS given (id, version, due) ON row.id = given.id AND row.lease_version = given.version
    ORDER BY row.id FOR NO KEY UPDATE OF row
)
UPDATE {table} AS row
SET next_attempt_at = held.due, leased_until = NULL, lease_version = row.lease_version + 1
FROM held WHERE row.id = held.id
RETURNING row.id
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


def is_due(now: datetime | Given) -> Q:
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
        take(rows, now=now, lease=lease)
    return rows


def take(rows: Sequence[Leased], *, now: datetime, lease: timedelta, **changes: Any) -> None:
    """Lease rows of one table that the transaction has locked, for a claim of one's own kind."""
    if not rows:
        return
    held = type(rows[0])._default_manager.filter(one_of("pk", [row.pk for row in rows]))
    held.update(
        leased_until=database_clock.expression(now) + lease,
        lease_version=F("lease_version") + 1,
        attempts=F("attempts") + 1,
        **changes,
    )
    for row in rows:
        row.leased_until = now + lease
        row.lease_version += 1
        row.attempts += 1


def renew(row: Leased, *, now: datetime, lease: timedelta) -> bool:
    """Hold a claimed row until `lease` from `now` on. False if the lease is no longer ours."""
    held = type(row)._default_manager.filter(pk=row.pk, lease_version=row.lease_version)
    if held.update(leased_until=database_clock.expression(now) + lease) == 0:
        return False
    row.leased_until = now + lease
    return True


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


def finish_many(plans: Sequence[tuple[Leased, datetime | None]]) -> set[str]:
    """`finish` rows of one table in one statement, each with its `next_attempt_at`.

    Returns the ids of those whose lease was still ours; of the others nothing is changed. The
    objects stay as they were read.
    """
    if not plans:
        return set()
    rows = [row for row, _ in plans]
    statement = _FINISH_MANY.format(table=rows[0]._meta.db_table)
    values = {
        "ids": arrays.texts(row.pk for row in rows),
        "versions": arrays.plain(row.lease_version for row in rows),
        "due": arrays.plain(due for _, due in plans),
    }
    return {pk for (pk,) in sql.rows(statement, values)}
