"""Deletes events after 30 days, with their deliveries and attempts."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from common.database.job_doors import by
from common.database.jobs import WORKER
from common.database_clock import judged

KEPT_FOR = timedelta(days=30)
_BATCH = 1_000

# Each statement deletes a bounded number, so that no clean-up holds many locks or runs for long.
_FORGET = """
WITH event AS (
    SELECT id FROM webhooks_webhookevent AS e
    WHERE created_at < %(before)s AND NOT EXISTS (
        SELECT FROM webhooks_webhookdelivery AS d
        WHERE d.event_id = e.id AND d.status = 'pending'
    )
    ORDER BY created_at LIMIT %(batch)s FOR UPDATE SKIP LOCKED
), attempt AS (
    DELETE FROM webhooks_webhookattempt AS a USING webhooks_webhookdelivery AS d, event
    WHERE a.delivery_id = d.id AND d.event_id = event.id
), delivery AS (
    DELETE FROM webhooks_webhookdelivery AS d USING event WHERE d.event_id = event.id
)
DELETE FROM webhooks_webhookevent AS e USING event WHERE e.id = event.id
"""


@by(WORKER)
@judged
def forget_old(*, now: datetime) -> int:
    """Delete events older than 30 days, except those that are still to be delivered; returns how
    many."""
    values: dict[str, Any] = {"before": now - KEPT_FOR, "batch": _BATCH}
    forgotten = 0
    with connection.cursor() as cursor:
        while True:
            cursor.execute(_FORGET, values)
            deleted: int = cursor.rowcount
            forgotten += deleted
            if deleted < _BATCH:
                return forgotten
