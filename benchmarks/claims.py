"""One claim of the dispatcher out of a very long queue."""

from __future__ import annotations

import time
from typing import Any

from django.db import connection

from benchmarks import database, deliveries, seeding
from benchmarks.errors import CannotMeasure
from benchmarks.figures import Figure, Section
from benchmarks.options import Options
from common.clock import utc_now
from webhooks.dispatcher import claims

SLOTS = 200
FEW_SLOTS = 20

_ENDPOINTS = """
INSERT INTO webhooks_webhookendpoint
    (id, tenant_id, url, events, description, status, disabled_reason, secret_token,
     previous_secret_token, consecutive_failures, warnings_sent, created_at, updated_at)
SELECT 'wh_claim' || lpad(n::text, 8, '0'), %(tenant)s, 'https://hooks.example.com/in', '{*}', '',
    'enabled', '', 'x', '', 0, 0, %(now)s, %(now)s
FROM generate_series(0, %(endpoints)s::int - 1) AS n
ON CONFLICT DO NOTHING
"""
# Every other row belongs to the first endpoint.
_QUEUE = """
WITH event AS (
    INSERT INTO webhooks_webhookevent
        (id, tenant_id, type, payment_id, sequence, body, created_at)
    SELECT 'evt_claim' || lpad(n::text, 12, '0'), %(tenant)s, 'payment.completed',
        'ftx_claim' || n, 1, %(body)s, %(now)s
    FROM generate_series(1, %(count)s::int) AS n
    RETURNING id, payment_id, substr(id, 10)::int AS n
)
INSERT INTO webhooks_webhookdelivery
    (id, tenant_id, event_id, endpoint_id, status, payment_id, sequence, next_attempt_at,
     lease_version, attempts, failures, is_manual, last_error, queued_at, created_at)
SELECT 'd' || id, %(tenant)s, id,
    'wh_claim' || lpad(
        (CASE WHEN n %% 2 = 0 THEN 0 ELSE (n / 2) %% %(endpoints)s END)::text, 8, '0'
    ),
    'pending', payment_id, 1, %(now)s - n * interval '1 millisecond', 0, 0, 0, false, '',
    %(now)s, %(now)s
FROM event
"""


def measure(options: Options) -> Section:
    """Claims one after the other, nothing recorded in between. Raises CannotMeasure."""
    seeding.require_own_database()
    rows, endpoints = options.scaled(400_000, 4_000), options.scaled(5_000, 500)
    tenant = seeding.customer().tenant
    database.empty(*deliveries.TABLES)
    values: dict[str, Any] = {"tenant": tenant.pk, "now": utc_now(), "endpoints": endpoints}
    database.execute(_ENDPOINTS, **values)
    database.execute(_QUEUE, **values, count=rows, body=deliveries.BODY)
    database.execute("VACUUM ANALYZE webhooks_webhookdelivery, webhooks_webhookendpoint")
    times = options.scaled(20, 5)
    took, served = _claim(SLOTS, times)
    few, _ = _claim(FEW_SLOTS, times)
    database.empty(*deliveries.TABLES)
    database.execute("DELETE FROM webhooks_webhookendpoint WHERE id LIKE 'wh_claim%%'", x=0)
    text = (
        f"{rows:,} due rows, half of them of one endpoint, on {endpoints:,} endpoints; "
        f"{times} claims of {SLOTS}, then of {FEW_SLOTS}, one after the other, each in a "
        "transaction of its own: a dispatcher with most of its slots free, and with few."
    )
    return Section(
        "Claims",
        text,
        [
            Figure(
                name=f"one claim of {SLOTS}",
                unit="ms",
                values=took,
                aim=5,
                at_most=True,
            ),
            Figure(name=f"one claim of {FEW_SLOTS}", unit="ms", values=few, aim=5, at_most=True),
            Figure(name=f"endpoints served by the claims of {SLOTS}", values=[float(served)]),
        ],
    )


def _claim(slots: int, times: int) -> tuple[list[float], int]:
    took: list[float] = []
    served: set[str] = set()
    after = ""
    for number in range(times + 3):
        connection.ensure_connection()
        began = time.perf_counter()
        found = claims.claim(slots=slots, retry_slots=slots // 2, after=after, now=utc_now())
        if number >= 3:  # warm by then
            took.append((time.perf_counter() - began) * 1000)
        after = found.resume_after
        served |= {job.endpoint_id for job in found.jobs}
    if not served:
        raise CannotMeasure("no claim found anything")
    return took, len(served)
