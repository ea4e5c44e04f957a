"""How deliveries to an endpoint have gone: the last hundred, and the share of the last day that
arrived."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.db import connection

RECENT_MAX = 100
# The share of a busy endpoint is taken over its newest deliveries: more would not change it.
_COUNTED_MAX = 5_000
_DAY = timedelta(hours=24)


class Outcome(StrEnum):
    """How one delivery stands. `late`: it arrived, but not at the first try."""

    DELIVERED = "delivered"
    LATE = "late"
    WAITING = "waiting"
    RETRYING = "retrying"
    FAILED = "failed"
    UNSENT = "unsent"


# Two walks along the index of an endpoint's deliveries, each with a limit.
_HEALTH = """
SELECT e.id, recent.outcomes, day.delivered, day.tried
FROM unnest(%(ids)s::varchar[]) AS e (id)
CROSS JOIN LATERAL (
    SELECT array_agg(
        CASE
            WHEN status = 'delivered' AND attempts <= 1 THEN 'delivered'
            WHEN status = 'delivered' THEN 'late'
            WHEN status = 'pending' AND failures = 0 THEN 'waiting'
            WHEN status = 'pending' THEN 'retrying'
            WHEN status = 'failed' THEN 'failed'
            ELSE 'unsent'
        END ORDER BY created_at, id
    ) AS outcomes
    FROM (
        SELECT * FROM webhooks_webhookdelivery WHERE endpoint_id = e.id
        ORDER BY created_at DESC, id DESC LIMIT %(recent)s
    ) AS d
) AS recent
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE status = 'delivered') AS delivered,
        count(*) FILTER (WHERE attempts > 0) AS tried
    FROM (
        SELECT status, attempts FROM webhooks_webhookdelivery
        WHERE endpoint_id = e.id AND created_at > %(since)s
        ORDER BY created_at DESC, id DESC LIMIT %(counted)s
    ) AS d
) AS day
"""


@dataclass(frozen=True)
class Health:
    """`outcomes` are the last hundred, oldest first. `tried` counts the deliveries of the last 24
    hours that were sent at least once, `delivered` those of them that arrived."""

    outcomes: tuple[Outcome, ...] = ()
    delivered: int = 0
    tried: int = 0


def health_of(endpoint_ids: Sequence[str], *, now: datetime) -> dict[str, Health]:
    """The health of each of these endpoints, by id. One query for all of them."""
    values: dict[str, Any] = {
        "ids": list(endpoint_ids),
        "recent": RECENT_MAX,
        "counted": _COUNTED_MAX,
        "since": now - _DAY,
    }
    with connection.cursor() as cursor:
        cursor.execute(_HEALTH, values)
        rows = cursor.fetchall()
    return {
        row[0]: Health(tuple(Outcome(name) for name in row[1] or ()), row[2], row[3])
        for row in rows
    }
