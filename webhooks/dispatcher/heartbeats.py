"""Says that a dispatcher is alive, so that the beat sweep need not do its work.

In PostgreSQL: Valkey may be flushed at any moment.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from webhooks.models import DispatcherHeartbeat

INTERVAL = timedelta(seconds=5)
FRESH_FOR = timedelta(seconds=15)
_FORGET_AFTER = timedelta(days=1)

# The burst of a sweep is one row with one name: whoever refreshes a stale one does the work.
BURST = "burst"
_TAKE_BURST = """
INSERT INTO webhooks_dispatcherheartbeat (name, started_at, beat_at)
VALUES (%(name)s, %(now)s, %(now)s)
ON CONFLICT (name) DO UPDATE SET started_at = %(now)s, beat_at = %(now)s
WHERE webhooks_dispatcherheartbeat.beat_at <= %(stale)s
"""


def beat(*, name: str, now: datetime) -> None:
    """Note that the dispatcher `name` is at work."""
    DispatcherHeartbeat.objects.update_or_create(
        name=name, defaults={"beat_at": now}, create_defaults={"started_at": now, "beat_at": now}
    )


def stop(*, name: str) -> None:
    """The dispatcher `name` went in good order."""
    DispatcherHeartbeat.objects.filter(name=name).delete()


def is_dispatcher_alive(*, now: datetime) -> bool:
    """Whether a dispatcher process was at work within the last 15 s."""
    fresh = DispatcherHeartbeat.objects.filter(beat_at__gt=now - FRESH_FOR)
    return fresh.exclude(name=BURST).exists()


def take_burst(*, now: datetime) -> bool:
    """Become the one burst at work. False when another one is."""
    values: dict[str, Any] = {"name": BURST, "now": now, "stale": now - FRESH_FOR}
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_BURST, values)
        return bool(cursor.rowcount)


def forget_dead(*, now: datetime) -> None:
    """Drop the rows of dispatchers that died a day ago."""
    DispatcherHeartbeat.objects.filter(beat_at__lte=now - _FORGET_AFTER).delete()
