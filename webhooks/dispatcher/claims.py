"""Takes due deliveries out of the queue, a fair share for every endpoint.

The walk goes from endpoint to endpoint with one index probe each, whatever the length of their
queues, and remembers where it stopped. From each ready endpoint it takes the oldest rows, as many
as the endpoint may have in flight. Slots are then given round-robin. So neither a long queue nor a
dead receiver keeps the others waiting.

No index has a column of the lease, so that a claim changes rows but no index (decision 0088). What
is in flight is therefore read from the rows themselves: the claim took the oldest due rows of their
endpoint, so they are among the oldest.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from common.database.job_doors import by
from common.database.jobs import DISPATCHER
from common.engine import sql
from webhooks.models import WebhookDelivery

LEASE = timedelta(seconds=60)
IN_FLIGHT_PER_ENDPOINT = 10
# A failing endpoint gets one probe at a time: what waits for it keeps its tries.
BREAKER_FAILURES = 5
ORDER_WAIT = timedelta(hours=1)
# Tries after this many failures use only part of the slots, so that first tries find some free.
RETRY_FROM_FAILURES = 2
# Each endpoint costs a look at its queue. The next claim takes the next ones.
ENDPOINTS_PER_CLAIM = 32
# Candidates per turn that may be given: some wait for an earlier event of their payment.
_LOOK_AHEAD = 4
_WALK_MIN = 64


class Job(NamedTuple):
    """One try that is ours to make, until the lease ends. A claim selects columns so named."""

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

    @classmethod
    def of(cls, row: WebhookDelivery) -> Job:
        """The job of a delivery that is leased, for whoever claimed it in another way."""
        endpoint = row.endpoint
        return cls(
            delivery_id=row.pk,
            lease_version=row.lease_version,
            attempt=row.attempts,
            failures=row.failures,
            is_manual=row.is_manual,
            event_id=row.event_id,
            endpoint_id=row.endpoint_id,
            queued_at=row.queued_at,
            is_reclaimed=False,
            body=bytes(row.event.body),
            url=endpoint.url,
            secret_token=endpoint.secret_token,
            previous_secret_token=endpoint.previous_secret_token,
            previous_secret_expires_at=endpoint.previous_secret_expires_at,
            mode=endpoint.tenant.mode,
        )


# `tests/webhooks/reference.py` says the same row by row; a property test holds the two together.
_CLAIM_AT = """
-- step: the endpoints that have anything pending, from `after` on, each by one probe of the index;
-- with the time at which its first delivery is due.
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
), walk AS (
    -- As many of them as one claim may look at. Steps are made as they are asked for.
    SELECT * FROM step LIMIT %(walk)s
), ready AS MATERIALIZED (
    -- Those that may be sent something now. `allowance`: how many deliveries more an endpoint may
    -- have in flight; one that fails gets one at a time, and none while it pauses.
    SELECT endpoint.* FROM walk CROSS JOIN LATERAL (
        SELECT e.id, e.status = 'enabled' AS is_enabled, CASE
                WHEN e.consecutive_failures >= %(breaker)s
                THEN CASE WHEN flight.size = 0
                     AND coalesce(e.paused_until <= %(now)s, true) THEN 1 ELSE 0 END
                ELSE %(cap)s - flight.size
            END AS allowance
        FROM webhooks_webhookendpoint AS e CROSS JOIN LATERAL (
            SELECT count(*)::int AS size FROM (
                SELECT FROM (
                    SELECT leased_until FROM webhooks_webhookdelivery
                    WHERE endpoint_id = e.id AND status = 'pending' AND next_attempt_at <= %(now)s
                    ORDER BY next_attempt_at, id
                    -- Where an endpoint is off, what was asked for is taken from behind the rest.
                    LIMIT CASE WHEN e.status = 'enabled' THEN %(front)s::int END
                ) AS oldest WHERE leased_until > %(now)s LIMIT %(cap)s
            ) AS leased
        ) AS flight
        WHERE e.id = walk.endpoint_id AND e.status <> 'removed' AND (
            -- Not EXISTS, which may read the endpoint's whole history instead of its queue.
            SELECT true FROM webhooks_webhookdelivery
            WHERE endpoint_id = e.id AND status = 'pending' AND next_attempt_at <= %(now)s
                AND (leased_until IS NULL OR leased_until <= %(now)s)
            ORDER BY next_attempt_at, id LIMIT 1
        ) AND NOT EXISTS (
            SELECT FROM tenants_switch AS s
            WHERE s.kind = 'webhooks' AND s.released_at IS NULL
                AND (s.tenant_id IS NULL OR s.tenant_id = e.tenant_id)
        ) LIMIT 1
    ) AS endpoint
    WHERE walk.next_attempt_at <= %(now)s AND endpoint.allowance > 0
    LIMIT %(endpoints)s
), share AS (
    -- How many each endpoint gets: more turns than slots in all, as some will not be filled, and no
    -- more for anybody than its allowance.
    SELECT id, is_enabled, least(allowance, ceil(
        1.5 * %(slots)s::float / count(*) OVER ()
    ))::int AS size FROM ready
), due AS MATERIALIZED (
    -- The oldest rows of each endpoint, as many as its share. A row whose payment has an earlier
    -- event still pending must not be sent, for an hour at most:
    --   the earlier one is in flight or due before it: the row is passed over and takes no place;
    --   the earlier one is due behind it: the row is parked (`must_wait`). Enough of such rows
    --   would hide the earlier ones, and all would wait for each other.
    SELECT share.id AS endpoint_id, share.size, d.*
    FROM share CROSS JOIN LATERAL (
        SELECT q.id, q.tid, q.payment_id, q.sequence, q.next_attempt_at, q.failures, q.is_reclaimed,
            q.queued_at > %(now)s - %(order_wait)s::interval
                AND older.comes_later IS NOT NULL AS must_wait
        FROM (
            SELECT id, ctid AS tid, payment_id, sequence, next_attempt_at, failures, queued_at,
                leased_until IS NOT NULL AS is_reclaimed
            FROM webhooks_webhookdelivery AS w
            WHERE w.endpoint_id = share.id AND w.status = 'pending'
                AND w.next_attempt_at <= %(now)s AND (share.is_enabled OR w.is_manual)
                AND (w.leased_until IS NULL OR w.leased_until <= %(now)s)
            ORDER BY w.next_attempt_at, w.id LIMIT %(look_ahead)s * share.size
        ) AS q LEFT JOIN LATERAL (
            SELECT o.next_attempt_at > q.next_attempt_at
                AND (o.leased_until IS NULL OR o.leased_until <= %(now)s) AS comes_later
            FROM webhooks_webhookdelivery AS o
            WHERE o.endpoint_id = share.id AND o.payment_id = q.payment_id AND o.payment_id <> ''
                AND o.sequence < q.sequence AND o.status = 'pending'
            ORDER BY o.sequence LIMIT 1
        ) AS older ON true
        WHERE q.queued_at <= %(now)s - %(order_wait)s::interval OR coalesce(older.comes_later, true)
        ORDER BY q.next_attempt_at, q.id LIMIT share.size
    ) AS d
), parked AS (
    -- Put off what must wait. The earlier delivery is locked as well: nobody may finish it at this
    -- moment, because its end is what makes the parked ones due again.
    UPDATE webhooks_webhookdelivery AS d
    SET is_parked = true, next_attempt_at = d.queued_at + %(order_wait)s, leased_until = NULL
    FROM (
        SELECT w.id FROM due JOIN webhooks_webhookdelivery AS w ON w.id = due.id
        CROSS JOIN LATERAL (
            SELECT FROM webhooks_webhookdelivery AS q
            WHERE q.endpoint_id = due.endpoint_id AND q.payment_id = due.payment_id
                AND q.payment_id <> '' AND q.sequence < due.sequence AND q.status = 'pending'
            ORDER BY q.sequence LIMIT 1 FOR SHARE SKIP LOCKED
        ) AS older
        WHERE due.must_wait AND w.status = 'pending'
            AND (w.leased_until IS NULL OR w.leased_until <= %(now)s)
        FOR NO KEY UPDATE OF w SKIP LOCKED
    ) AS waiting
    WHERE d.id = waiting.id RETURNING d.id
), turn AS (
    -- What may be sent, numbered per endpoint: its first turn, its second, and so on.
    SELECT tid, size, is_reclaimed, failures >= %(retry_from)s AS is_retry, row_number() OVER (
        PARTITION BY endpoint_id ORDER BY next_attempt_at, id
    ) AS number FROM due WHERE NOT must_wait
), dealt AS (
    -- The order in which slots are given: everybody's first turn, then everybody's second. Late
    -- retries are counted apart, since they have only a part of the slots.
    SELECT tid, is_reclaimed, number, is_retry, row_number() OVER (
        PARTITION BY is_retry ORDER BY number
    ) AS place FROM turn WHERE number <= size
), chosen AS (
    -- As many as there are slots, locked; what another dispatcher has locked is skipped. A row is
    -- found by its place: one that moved meanwhile was changed, and is left to the next claim.
    SELECT d.ctid AS tid, dealt.is_reclaimed
    FROM dealt JOIN webhooks_webhookdelivery AS d ON d.ctid = dealt.tid
    WHERE (NOT dealt.is_retry OR dealt.place <= %(retry_slots)s)
        AND d.status = 'pending' AND d.next_attempt_at <= %(now)s
        AND (d.leased_until IS NULL OR d.leased_until <= %(now)s)
    ORDER BY dealt.number LIMIT %(slots)s
    FOR NO KEY UPDATE OF d SKIP LOCKED
), claimed AS (
    -- Lease them: no column of an index changes.
    UPDATE webhooks_webhookdelivery AS d
    SET leased_until = %(now)s + %(lease)s::interval, is_parked = false,
        lease_version = lease_version + 1, attempts = attempts + 1
    FROM chosen WHERE d.ctid = chosen.tid
    RETURNING d.id AS delivery_id, d.lease_version, d.attempts AS attempt, d.failures, d.is_manual,
        d.event_id, d.endpoint_id, d.queued_at, chosen.is_reclaimed
), job AS (
    -- All that a try needs: the bytes, the address, the secrets.
    SELECT c.*, event.body, e.url, e.secret_token, e.previous_secret_token,
        e.previous_secret_expires_at,
        (SELECT mode FROM tenants_tenant WHERE id = e.tenant_id) AS mode
    FROM claimed AS c
    JOIN webhooks_webhookevent AS event ON event.id = c.event_id
    JOIN webhooks_webhookendpoint AS e ON e.id = c.endpoint_id
)
-- Where the next claim goes on: behind the last endpoint served, or looked at; at the start ('') if
-- this one saw all of them. One row without a job if nothing was claimed.
SELECT walked.until, (SELECT count(*) FROM parked), %(job)s
FROM (
    SELECT CASE
        WHEN (SELECT count(*) FROM ready) >= %(endpoints)s THEN (SELECT max(id) FROM ready)
        WHEN (SELECT count(*) FROM walk) >= %(walk)s THEN (SELECT max(endpoint_id) FROM walk)
        ELSE '' END AS until
) AS walked LEFT JOIN job ON true
"""
# A dispatcher whose clock is ahead of the database's takes nobody's lease, and sends nothing early.
_CLAIM = _CLAIM_AT.replace("%(now)s", "least(%(now)s, ballast_now())").replace(
    "%(job)s", ", ".join(f"job.{name}" for name in Job._fields)
)


@dataclass(frozen=True)
class Claim:
    """`resume_after`: the endpoint at which the walk stopped; empty when it saw all of them.

    `parked`: rows put off until an earlier event of their payment is over.
    """

    jobs: list[Job]
    resume_after: str
    parked: int


@by(DISPATCHER)
def claim(*, slots: int, retry_slots: int, after: str = "", now: datetime) -> Claim:
    """Lease up to `slots` due deliveries, at most `retry_slots` of them late retries.

    Disjoint between dispatchers; a row whose lease ran out is due again. One statement.
    """
    values: dict[str, Any] = {
        "after": after,
        "walk": max(2 * slots, _WALK_MIN),
        "slots": slots,
        "endpoints": min(slots, ENDPOINTS_PER_CLAIM),
        "retry_slots": retry_slots,
        "retry_from": RETRY_FROM_FAILURES,
        "look_ahead": _LOOK_AHEAD,
        "front": _LOOK_AHEAD * IN_FLIGHT_PER_ENDPOINT,
        "cap": IN_FLIGHT_PER_ENDPOINT,
        "breaker": BREAKER_FAILURES,
        "order_wait": ORDER_WAIT,
        "lease": LEASE,
        "now": now,
    }
    rows = sql.rows(_CLAIM, values)
    resume_after, parked = rows[0][:2]
    jobs = [Job._make(row[2:]) for row in rows if row[2] is not None]
    return Claim(jobs=jobs, resume_after=resume_after, parked=parked)
