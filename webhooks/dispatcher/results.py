"""Writes down what happened, a batch at a time, and lets go of what waited for it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from common import arrays, sql
from common.http.client import Answer, Headers
from webhooks.dispatcher.claims import BREAKER_FAILURES, ORDER_WAIT, Job
from webhooks.dispatcher.outcomes import GONE, Outcome
from webhooks.services.health import switch_off_gone
from webhooks.states import DeliveryStatus

RESPONSE_BYTES_KEPT = 1024
PAUSE_SECONDS_MAX = 60

# Endpoints first and in one order, then deliveries: two dispatchers never wait in a circle.
# A result counts only while its lease is the one it was claimed with.
_RECORD = """
WITH change AS (
    SELECT * FROM unnest(
        %(endpoint_ids)s::text::varchar[], %(succeeded)s::text::bool[],
        %(trailing)s::text::int[], %(failed_since)s::text::timestamptz[]
    ) AS c (endpoint_id, has_success, failures, failed_since)
), locked AS (
    SELECT e.id, CASE WHEN c.has_success THEN c.failures
            ELSE e.consecutive_failures + c.failures END AS failures,
        CASE WHEN c.has_success OR e.first_failure_at IS NULL THEN c.failed_since
            ELSE e.first_failure_at END AS failed_since,
        c.has_success
    FROM webhooks_webhookendpoint AS e JOIN change AS c ON c.endpoint_id = e.id
    WHERE c.failures > 0 OR e.consecutive_failures > 0 OR e.last_success_at IS NULL
        OR e.last_success_at < %(now)s::timestamptz - interval '1 minute'
    ORDER BY e.id FOR NO KEY UPDATE OF e
), health AS (
    UPDATE webhooks_webhookendpoint AS e
    SET consecutive_failures = l.failures,
        first_failure_at = l.failed_since,
        last_success_at = CASE WHEN l.has_success THEN %(now)s ELSE e.last_success_at END,
        warnings_sent = CASE WHEN l.has_success THEN 0 ELSE e.warnings_sent END,
        paused_until = CASE WHEN l.failures >= %(breaker)s THEN %(now)s + least(
            %(pause_max)s::float, 2 ^ least(l.failures - %(breaker)s, 10)
        ) * interval '1 second' END
    FROM locked AS l WHERE e.id = l.id RETURNING e.id
), result AS (
    SELECT r.* FROM unnest(
        %(ids)s::text::varchar[], %(versions)s::text::int[], %(numbers)s::text::int[],
        %(statuses)s::text::varchar[], %(due)s::text::timestamptz[], %(codes)s::text::int[],
        %(errors)s::text::varchar[], %(responses)s::text::text[], %(headers)s::text::text[],
        %(durations)s::text::int[], %(started)s::text::timestamptz[]
    ) AS r (id, version, number, status, due, code, error, response, headers, duration, started)
    WHERE (SELECT count(*) FROM health) >= 0
), settled AS (
    UPDATE webhooks_webhookdelivery AS d
    SET status = r.status, next_attempt_at = r.due, leased_until = NULL,
        failures = d.failures + (r.status <> 'delivered')::int,
        last_status_code = r.code, last_error = r.error,
        delivered_at = CASE WHEN r.status = 'delivered' THEN %(now)s END
    FROM result AS r
    WHERE d.id = r.id AND d.lease_version = r.version AND d.status = 'pending'
    RETURNING d.id, d.status, d.endpoint_id, d.payment_id, d.sequence
), attempt AS (
    INSERT INTO webhooks_webhookattempt
        (delivery_id, number, status_code, error, response, response_headers, duration_ms,
         started_at)
    SELECT r.id, r.number, r.code, r.error, r.response, r.headers::jsonb, r.duration, r.started
    FROM result AS r JOIN webhooks_webhookdelivery AS d ON d.id = r.id
    ON CONFLICT (delivery_id, number) DO NOTHING
)
SELECT id, status, endpoint_id, payment_id, sequence FROM settled
"""

# What waited its turn behind a delivery that is over now, by the time to which a claim parks it; a
# retry has its own. A statement of its own: it must see what was parked while the first one waited
# for a row.
_RELEASE = """
UPDATE webhooks_webhookdelivery AS d SET next_attempt_at = %(now)s
FROM unnest(
    %(endpoints)s::text::varchar[], %(payments)s::text::varchar[], %(sequences)s::text::int[]
) AS over (endpoint_id, payment_id, sequence)
WHERE d.endpoint_id = over.endpoint_id AND d.payment_id = over.payment_id
    AND d.payment_id <> '' AND d.sequence > over.sequence AND d.status = 'pending'
    AND d.leased_until IS NULL AND d.next_attempt_at > %(now)s
    AND d.next_attempt_at = d.queued_at + %(order_wait)s
"""


@dataclass(frozen=True)
class Result:
    """A try that was made."""

    job: Job
    answer: Answer
    outcome: Outcome
    started_at: datetime

    @property
    def is_success(self) -> bool:
        return self.answer.is_success


@dataclass
class _Health:
    """What a batch says about one endpoint: failures since its last success in the batch."""

    has_success: bool = False
    trailing: int = 0
    failed_since: datetime | None = None

    def add(self, result: Result) -> None:
        if result.is_success:
            self.has_success, self.trailing, self.failed_since = True, 0, None
        elif not result.job.is_manual:
            self.trailing += 1
            self.failed_since = self.failed_since or result.started_at


@transaction.atomic
def record(results: Sequence[Result], *, now: datetime) -> set[str]:
    """Record a batch in one statement; returns the deliveries whose result counted.

    The others had lost their lease: somebody else is responsible for them by now. An endpoint that
    is gone is switched off with it, so that no claim comes between.
    """
    settled = sql.rows(_RECORD, _values(results, now))
    over = [row for row in settled if row[1] != DeliveryStatus.PENDING and row[3]]
    if over:
        _, _, endpoints, payments, sequences = zip(*over, strict=True)
        values = {
            "endpoints": arrays.texts(endpoints),
            "payments": arrays.texts(payments),
            "sequences": arrays.plain(sequences),
        }
        sql.rows(_RELEASE, {**values, "order_wait": ORDER_WAIT, "now": now})
    for endpoint_id, url in _gone(results):
        switch_off_gone(endpoint_id=endpoint_id, url=url, now=now)
    return {row[0] for row in settled}


def _gone(results: Iterable[Result]) -> list[tuple[str, str]]:
    """The endpoints that answered 410, and where. In one order, as `_RECORD` locked them."""
    jobs = (r.job for r in results if r.answer.status == GONE and not r.job.is_manual)
    return sorted({(job.endpoint_id, job.url) for job in jobs})


def _values(results: Sequence[Result], now: datetime) -> dict[str, Any]:
    health = _health_of(results)
    return {
        "endpoint_ids": arrays.texts(health),
        "succeeded": arrays.plain(item.has_success for item in health.values()),
        "trailing": arrays.plain(item.trailing for item in health.values()),
        "failed_since": arrays.plain(item.failed_since for item in health.values()),
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


def _health_of(results: Iterable[Result]) -> dict[str, _Health]:
    health: dict[str, _Health] = {}
    for result in results:
        health.setdefault(result.job.endpoint_id, _Health()).add(result)
    return {name: item for name, item in health.items() if item.has_success or item.trailing}


def text_of(body: bytes) -> str:
    """The first 1 KiB of an answer as text that PostgreSQL can hold."""
    return _storable(body[:RESPONSE_BYTES_KEPT].decode("utf-8", "replace"))


def _json_of(headers: Headers) -> str:
    return json.dumps([[_storable(name), _storable(value)] for name, value in headers])


def _storable(text: str) -> str:
    """Without what PostgreSQL refuses: NUL, and bytes that were no UTF-8."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return text.replace("\0", "\ufffd")
