"""Records the results of tries, a batch at a time, and frees the deliveries that waited
for them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import transaction

from common.database.job_doors import by
from common.database.jobs import DISPATCHER
from common.engine import arrays, sql
from common.engine.http.client import Answer, Headers
from webhooks.dispatcher.claims import BREAKER_FAILURES, Job
from webhooks.dispatcher.outcomes import GONE, Outcome
from webhooks.services.health import switch_off_gone
from webhooks.states import DeliveryStatus

RESPONSE_BYTES_KEPT = 1024
PAUSE_SECONDS_MAX = 60

# Deliveries are updated first, each under its own lease, then their endpoints in a fixed order, so
# that two dispatchers never wait for each other in a circle. A result counts once, while its lease
# is the one it was claimed with and was not given back. Only results that count change their
# endpoint. `tests/webhooks/reference.py` does the same row by row; a property test compares the
# two.
_RECORD = """
-- result: the batch as a table; `place` keeps its order.
WITH result AS (
    SELECT * FROM unnest(
        %(ids)s::text::varchar[], %(versions)s::text::int[], %(numbers)s::text::int[],
        %(statuses)s::text::varchar[], %(due)s::text::timestamptz[], %(codes)s::text::int[],
        %(errors)s::text::varchar[], %(responses)s::text::text[], %(headers)s::text::text[],
        %(durations)s::text::int[], %(started)s::text::timestamptz[]
    ) WITH ORDINALITY AS r (
        id, version, number, status, due, code, error, response, headers, duration, started, place
    )
), settled AS (
    -- End the tries whose lease still stands, and give the rows back.
    UPDATE webhooks_webhookdelivery AS d
    SET status = r.status, next_attempt_at = r.due, leased_until = NULL,
        failures = d.failures + (r.status <> 'delivered')::int,
        last_status_code = r.code, last_error = r.error,
        delivered_at = CASE WHEN r.status = 'delivered' THEN %(now)s::timestamptz END
    FROM result AS r
    WHERE d.id = r.id AND d.lease_version = r.version AND d.leased_until IS NOT NULL
        AND d.status = 'pending'
    RETURNING d.id, d.lease_version, d.status, d.endpoint_id, d.payment_id, d.sequence,
        d.is_manual, r.started, r.place
), tried AS (
    -- Of those, what says something about the endpoint: every success, and failures that nobody
    -- asked for. `succeeded`: the place of the endpoint's last success in the batch.
    SELECT endpoint_id, started, place, max(place) FILTER (WHERE status = 'delivered') OVER (
        PARTITION BY endpoint_id
    ) AS succeeded FROM settled WHERE status = 'delivered' OR NOT is_manual
), change AS (
    -- Per endpoint: whether it succeeded, and its failures since then.
    SELECT endpoint_id, max(succeeded) IS NOT NULL AS has_success,
        count(*) FILTER (WHERE place > coalesce(succeeded, 0)) AS failures,
        min(started) FILTER (WHERE place > coalesce(succeeded, 0)) AS failed_since
    FROM tried GROUP BY endpoint_id
), locked AS (
    -- The endpoints that have to be written, with the counts they get. Not those that go on
    -- succeeding: that is noted once a minute, or each batch would write the row.
    SELECT e.id, CASE WHEN c.has_success THEN c.failures
            ELSE e.consecutive_failures + c.failures END AS failures,
        CASE WHEN c.has_success OR e.first_failure_at IS NULL THEN c.failed_since
            ELSE e.first_failure_at END AS failed_since,
        c.has_success
    FROM webhooks_webhookendpoint AS e JOIN change AS c ON c.endpoint_id = e.id
    WHERE c.failures > 0 OR e.consecutive_failures > 0 OR e.last_success_at IS NULL
        OR e.last_success_at < %(now)s - interval '1 minute'
    ORDER BY e.id FOR NO KEY UPDATE OF e
), health AS (
    -- From five failures on it pauses between tries: 1 s, 2 s, 4 s, up to a minute.
    UPDATE webhooks_webhookendpoint AS e
    SET consecutive_failures = l.failures,
        first_failure_at = l.failed_since,
        last_success_at = CASE WHEN l.has_success THEN %(now)s ELSE e.last_success_at END,
        warnings_sent = CASE WHEN l.has_success THEN 0 ELSE e.warnings_sent END,
        paused_until = CASE WHEN l.failures >= %(breaker)s THEN %(now)s + least(
            %(pause_max)s::float, 2 ^ least(l.failures - %(breaker)s, 10)
        ) * interval '1 second' END
    FROM locked AS l WHERE e.id = l.id
), attempt AS (
    -- Every try is remembered, also one that came too late to count; one recorded twice, once.
    INSERT INTO webhooks_webhookattempt
        (delivery_id, number, status_code, error, response, response_headers, duration_ms,
         started_at)
    SELECT r.id, r.number, r.code, r.error, r.response, r.headers::jsonb, r.duration, r.started
    FROM result AS r JOIN webhooks_webhookdelivery AS d ON d.id = r.id
    ON CONFLICT (delivery_id, number) DO NOTHING
)
SELECT id, lease_version, status, endpoint_id, payment_id, sequence FROM settled
"""

# Makes due what was parked behind a delivery that is over now. It is a statement of its own,
# because it must see what was parked while the first one waited for a row.
_RELEASE = """
UPDATE webhooks_webhookdelivery AS d
SET is_parked = false, next_attempt_at = least(d.next_attempt_at, %(now)s)
FROM unnest(
    %(endpoints)s::text::varchar[], %(payments)s::text::varchar[], %(sequences)s::text::int[]
) AS over (endpoint_id, payment_id, sequence)
WHERE d.endpoint_id = over.endpoint_id AND d.payment_id = over.payment_id
    AND d.payment_id <> '' AND d.sequence > over.sequence AND d.status = 'pending'
    AND d.leased_until IS NULL AND d.is_parked
"""


# A try that broke on our side was none, so it is not counted, and its number is used again.
_GIVE_BACK = """
UPDATE webhooks_webhookdelivery AS d
SET leased_until = NULL, attempts = d.attempts - 1,
    next_attempt_at = least(%(now)s, ballast_now()) + %(wait)s::interval
FROM unnest(%(ids)s::text::varchar[], %(versions)s::text::int[]) AS broken (id, version)
WHERE d.id = broken.id AND d.lease_version = broken.version AND d.leased_until IS NOT NULL
    AND d.status = 'pending'
"""
OWN_ERROR_WAIT = timedelta(minutes=1)


@dataclass(frozen=True)
class Result:
    """A try that was made."""

    job: Job
    answer: Answer
    outcome: Outcome
    started_at: datetime


class _Settled(NamedTuple):
    """A delivery whose result counted."""

    delivery_id: str
    lease_version: int
    status: str
    endpoint_id: str
    payment_id: str
    sequence: int


@by(DISPATCHER)
@transaction.atomic
def record(results: Sequence[Result], *, now: datetime) -> set[str]:
    """Record a batch in one statement; returns the ids of the deliveries whose result counted.

    A result does not count if its lease is lost, because another dispatcher is responsible by then.
    It does not count, either, if it was recorded before: a batch whose commit got no answer may be
    recorded again, and changes nothing. An endpoint that answered 410 is switched off in the same
    transaction, so that no claim comes in between.
    """
    settled = [_Settled._make(row) for row in sql.rows(_RECORD, _values(results, now))]
    _release([row for row in settled if row.status != DeliveryStatus.PENDING], now)
    counted = {(row.delivery_id, row.lease_version) for row in settled}
    for endpoint_id, url in _gone(results, counted):
        switch_off_gone(endpoint_id=endpoint_id, url=url, now=now)
    return {row.delivery_id for row in settled}


@by(DISPATCHER)
def give_back(jobs: Sequence[Job], *, now: datetime) -> None:
    """Make tries that broke on our side due again in a minute. They count neither as a try of the
    delivery nor as a failure of its endpoint."""
    values = {
        "ids": arrays.texts(job.delivery_id for job in jobs),
        "versions": arrays.plain(job.lease_version for job in jobs),
        "wait": OWN_ERROR_WAIT,
        "now": now,
    }
    sql.rows(_GIVE_BACK, values)


def _release(ended: Iterable[_Settled], now: datetime) -> None:
    over = [row for row in ended if row.payment_id]
    if not over:
        return
    values = {
        "endpoints": arrays.texts(row.endpoint_id for row in over),
        "payments": arrays.texts(row.payment_id for row in over),
        "sequences": arrays.plain(row.sequence for row in over),
        "now": now,
    }
    sql.rows(_RELEASE, values)


def _gone(results: Iterable[Result], counted: Collection[tuple[str, int]]) -> list[tuple[str, str]]:
    """The endpoints that answered 410, and their URLs, in the order in which `_RECORD`
    locked them."""
    jobs = (r.job for r in results if r.answer.status == GONE and not r.job.is_manual)
    ours = (job for job in jobs if (job.delivery_id, job.lease_version) in counted)
    return sorted({(job.endpoint_id, job.url) for job in ours})


def _values(results: Sequence[Result], now: datetime) -> dict[str, Any]:
    return {
        "ids": arrays.texts(result.job.delivery_id for result in results),
        "versions": arrays.plain(result.job.lease_version for result in results),
        "numbers": arrays.plain(result.job.attempt for result in results),
        "statuses": arrays.texts(result.outcome.status for result in results),
        "due": arrays.plain(result.outcome.next_attempt_at for result in results),
        "codes": arrays.plain(result.answer.status for result in results),
        "errors": arrays.texts(result.answer.failure or "" for result in results),
        "responses": arrays.texts(text_of(result.answer.body) for result in results),
        "headers": arrays.texts(_json_of(result.answer.headers) for result in results),
        "durations": arrays.plain(result.answer.duration_ms for result in results),
        "started": arrays.plain(result.started_at for result in results),
        "breaker": BREAKER_FAILURES,
        "pause_max": PAUSE_SECONDS_MAX,
        "now": now,
    }


def text_of(body: bytes) -> str:
    """The first 1 KiB of an answer as text that PostgreSQL can store."""
    return _storable(body[:RESPONSE_BYTES_KEPT].decode("utf-8", "replace"))


def _json_of(headers: Headers) -> str:
    return json.dumps([[_storable(name), _storable(value)] for name, value in headers])


def _storable(text: str) -> str:
    """The text without what PostgreSQL refuses: NUL, and bytes that were not UTF-8."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return text.replace("\0", "\ufffd")
