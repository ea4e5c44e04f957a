"""Notes that a dispatcher is alive, so that the periodic sweep need not deliver.

The notes are in PostgreSQL, because Valkey may be flushed at any moment.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from common.database.job_doors import by
from common.database.jobs import DISPATCHER
from webhooks.models import DispatcherHeartbeat

INTERVAL = timedelta(seconds=5)
FRESH_FOR = timedelta(seconds=15)
_FORGET_AFTER = timedelta(days=1)

# All bursts share one row under this name: whichever refreshes a stale row first does the work.
BURST = "burst"
_TAKE_BURST = """
INSERT INTO webhooks_dispatcherheartbeat (name, started_at, beat_at)
VALUES (%(name)s, %(now)s, %(now)s)
ON CONFLICT (name) DO UPDATE SET started_at = %(now)s, beat_at = %(now)s
WHERE webhooks_dispatcherheartbeat.beat_at <= %(stale)s
"""


@by(DISPATCHER)
def beat(*, name: str, now: datetime) -> None:
    """Note that the dispatcher `name` is at work."""
    DispatcherHeartbeat.objects.update_or_create(
        name=name, defaults={"beat_at": now}, create_defaults={"started_at": now, "beat_at": now}
    )


@by(DISPATCHER)
def stop(*, name: str) -> None:
    """Remove the heartbeat of the dispatcher `name`, which ended in good order."""
    DispatcherHeartbeat.objects.filter(name=name).delete()


def is_dispatcher_alive(*, now: datetime) -> bool:
    """Whether a dispatcher process was at work within the last 15 s."""
    fresh = DispatcherHeartbeat.objects.filter(beat_at__gt=now - FRESH_FOR)
    return fresh.exclude(name=BURST).exists()


def take_burst(*, now: datetime) -> bool:
    """Become the one burst at work. Returns False if another one is."""
    values: dict[str, Any] = {"name": BURST, "now": now, "stale": now - FRESH_FOR}
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_BURST, values)
        return bool(cursor.rowcount)


def forget_dead(*, now: datetime) -> None:
    """Delete the heartbeats of dispatchers that died a day ago or earlier."""
    DispatcherHeartbeat.objects.filter(beat_at__lte=now - _FORGET_AFTER).delete()
