"""Takes due deliveries out of the queue, a fair share for every endpoint.

The walk goes from endpoint to endpoint with one index probe each, whatever the length of their
queues, and remembers where it stopped. From each ready endpoint it takes the oldest rows up to
what the endpoint may have in flight; turns are dealt round-robin. So neither a long queue nor a
dead receiver keeps the others waiting.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

LEASE = timedelta(seconds=60)
IN_FLIGHT_PER_ENDPOINT = 10
# A failing endpoint gets one probe at a time: what waits for it keeps its tries.
BREAKER_FAILURES = 5
ORDER_WAIT = timedelta(hours=1)
# Tries after this many failures use only part of the slots, so that first tries find some free.
RETRY_FROM_FAILURES = 2
_WALK_MIN = 64

_CLAIM = """
WITH RECURSIVE step AS (
    (SELECT endpoint_id, next_attempt_at FROM webhooks_webhookdelivery
     WHERE status = 'pending' AND endpoint_id > %(after)s
     ORDER BY endpoint_id, next_attempt_at, id LIMIT 1)
    UNION ALL
    SELECT next.endpoint_id, next.next_attempt_at FROM step CROSS JOIN LATERAL (
        SELECT endpoint_id, next_attempt_at FROM webhooks_webhookdelivery
        WHERE status = 'pending' AND endpoint_id > step.endpoint_id
        ORDER BY endpoint_id, next_attempt_at, id LIMIT 1
    ) AS next
), walk AS MATERIALIZED (
    SELECT * FROM step LIMIT %(walk)s
), ready AS (
    SELECT endpoint.* FROM walk CROSS JOIN LATERAL (
        SELECT e.id, e.status = 'enabled' AS is_enabled, CASE
                WHEN e.consecutive_failures >= %(breaker)s
                THEN CASE WHEN flight.size = 0
                     AND coalesce(e.paused_until <= %(now)s, true) THEN 1 ELSE 0 END
                ELSE %(cap)s - flight.size
            END AS allowance
        FROM webhooks_webhookendpoint AS e CROSS JOIN LATERAL (
            SELECT count(*)::int AS size FROM webhooks_webhookdelivery AS f
            WHERE f.endpoint_id = e.id AND f.leased_until > %(now)s
        ) AS flight
        WHERE e.id = walk.endpoint_id LIMIT 1
    ) AS endpoint
    WHERE walk.next_attempt_at <= %(now)s AND endpoint.allowance > 0
    LIMIT %(slots)s
), due AS MATERIALIZED (
    SELECT ready.id AS endpoint_id, ready.allowance, d.id, d.payment_id, d.sequence,
        d.queued_at > %(order_since)s AND EXISTS (
            SELECT FROM webhooks_webhookdelivery AS older
            WHERE older.endpoint_id = ready.id AND older.payment_id = d.payment_id
                AND older.payment_id <> '' AND older.sequence < d.sequence
                AND older.status = 'pending'
        ) AS must_wait
    FROM ready CROSS JOIN LATERAL (
        SELECT id, payment_id, sequence, queued_at FROM webhooks_webhookdelivery AS q
        WHERE q.endpoint_id = ready.id AND q.status = 'pending'
            AND q.next_attempt_at <= %(now)s AND (ready.is_enabled OR q.is_manual)
        ORDER BY q.next_attempt_at, q.id LIMIT 2 * ready.allowance + 20
    ) AS d
), parked AS (
    UPDATE webhooks_webhookdelivery AS d SET next_attempt_at = d.queued_at + %(order_wait)s
    FROM (
        SELECT w.id FROM due JOIN webhooks_webhookdelivery AS w ON w.id = due.id
        CROSS JOIN LATERAL (
            SELECT FROM webhooks_webhookdelivery AS older
            WHERE older.endpoint_id = due.endpoint_id AND older.payment_id = due.payment_id
                AND older.payment_id <> '' AND older.sequence < due.sequence
                AND older.status = 'pending' AND older.next_attempt_at > %(now)s
                AND older.leased_until IS NULL
            LIMIT 1 FOR SHARE SKIP LOCKED
        ) AS waits_for_retry
        WHERE due.must_wait AND w.status = 'pending' AND w.leased_until IS NULL
        FOR NO KEY UPDATE OF w SKIP LOCKED
    ) AS waiting
    WHERE d.id = waiting.id
), held AS (
    SELECT d.* FROM (SELECT DISTINCT endpoint_id, allowance FROM due) AS e CROSS JOIN LATERAL (
        SELECT q.id, q.endpoint_id, q.next_attempt_at, q.failures,
            q.leased_until IS NOT NULL AS is_reclaimed
        FROM webhooks_webhookdelivery AS q
        WHERE q.id IN (
                SELECT due.id FROM due WHERE due.endpoint_id = e.endpoint_id AND NOT due.must_wait
            )
            AND q.status = 'pending' AND q.next_attempt_at <= %(now)s
        ORDER BY q.next_attempt_at, q.id LIMIT e.allowance
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS d
), turn AS (
    SELECT id, is_reclaimed, failures >= %(retry_from)s AS is_retry, row_number() OVER (
        PARTITION BY endpoint_id ORDER BY next_attempt_at, id
    ) AS number FROM held
), dealt AS (
    SELECT id, is_reclaimed, number, is_retry, row_number() OVER (
        PARTITION BY is_retry ORDER BY number
    ) AS place FROM turn
), chosen AS (
    SELECT id, is_reclaimed FROM dealt WHERE NOT is_retry OR place <= %(retry_slots)s
    ORDER BY number LIMIT %(slots)s
), claimed AS (
    UPDATE webhooks_webhookdelivery AS d
    SET leased_until = %(until)s, next_attempt_at = %(until)s,
        lease_version = lease_version + 1, attempts = attempts + 1
    FROM chosen WHERE d.id = chosen.id
    RETURNING d.id, d.lease_version, d.attempts, d.failures, d.is_manual, d.event_id,
        d.endpoint_id, d.queued_at, chosen.is_reclaimed
), job AS (
    SELECT c.*, event.body, e.url, e.secret_token, e.previous_secret_token,
        e.previous_secret_expires_at, tenant.mode
    FROM claimed AS c
    JOIN webhooks_webhookevent AS event ON event.id = c.event_id
    JOIN webhooks_webhookendpoint AS e ON e.id = c.endpoint_id
    JOIN tenants_tenant AS tenant ON tenant.id = e.tenant_id
)
SELECT stopped.at, stopped.steps, job.*
FROM (SELECT max(endpoint_id) AS at, count(*) AS steps FROM walk) AS stopped
LEFT JOIN job ON true
"""


@dataclass(frozen=True)
class Job:
    """One try that is ours to make, until the lease ends."""

    delivery_id: str
    lease_version: int
    attempt: int
    failures: int
    is_manual: bool
    event_id: str
    endpoint_id: str
    queued_at: datetime
    is_reclaimed: bool
    body: bytes
    url: str
    secret_token: str
    previous_secret_token: str
    previous_secret_expires_at: datetime | None
    mode: str


@dataclass(frozen=True)
class Claim:
    """`resume_after`: the endpoint at which the walk stopped; empty when it saw all of them."""

    jobs: list[Job]
    resume_after: str


def claim(*, slots: int, retry_slots: int, after: str = "", now: datetime) -> Claim:
    """Lease up to `slots` due deliveries, at most `retry_slots` of them late retries.

    Disjoint between dispatchers; a row whose lease ran out is due again. One statement.
    """
    walk = max(2 * slots, _WALK_MIN)
    values: dict[str, Any] = {
        "after": after,
        "walk": walk,
        "slots": slots,
        "retry_slots": retry_slots,
        "retry_from": RETRY_FROM_FAILURES,
        "cap": IN_FLIGHT_PER_ENDPOINT,
        "breaker": BREAKER_FAILURES,
        "order_wait": ORDER_WAIT,
        "order_since": now - ORDER_WAIT,
        "until": now + LEASE,
        "now": now,
    }
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, values)
        rows = cursor.fetchall()
    stopped_at, steps = rows[0][:2]
    jobs = [_job(row[2:]) for row in rows if row[2] is not None]
    return Claim(jobs=jobs, resume_after=stopped_at if steps == walk else "")


def _job(row: tuple[Any, ...]) -> Job:
    job = Job(*row)
    return Job(**{**vars(job), "body": bytes(job.body)})
