"""What the webhook parts share: endpoints and due deliveries in the database, the receiver."""

from __future__ import annotations

import http.client
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from benchmarks import database, processes, seeding
from benchmarks.errors import CannotMeasure
from benchmarks.processes import Server
from common import ids
from common.clock import utc_now
from tenants.models import Tenant
from webhooks import signing
from webhooks.models import WebhookEndpoint

TABLES = ("webhooks_webhookattempt", "webhooks_webhookdelivery", "webhooks_webhookevent")
_DUE = """
WITH event AS (
    INSERT INTO webhooks_webhookevent
        (id, tenant_id, type, payment_id, sequence, body, created_at)
    SELECT %(prefix)s || lpad(n::text, 20, '0'), %(tenant)s, 'payment.completed',
        'ftx_' || %(prefix)s || n, 1, %(body)s, %(now)s
    FROM generate_series(1, %(count)s::int) AS n
    RETURNING id, tenant_id, payment_id, sequence
)
INSERT INTO webhooks_webhookdelivery
    (id, tenant_id, event_id, endpoint_id, status, payment_id, sequence, next_attempt_at,
     lease_version, attempts, failures, is_manual, last_error, queued_at, created_at)
SELECT 'd' || event.id, event.tenant_id, event.id, %(endpoint)s, 'pending', payment_id, sequence,
    %(now)s, 0, 0, 0, false, '', %(now)s, %(now)s
FROM event
"""
_PENDING = """
SELECT count(*) FROM (
    SELECT FROM webhooks_webhookdelivery WHERE status = 'pending' LIMIT 1
) AS one
"""
SETTLED = "SELECT count(*) FROM webhooks_webhookdelivery WHERE status <> 'pending'"
BODY = json.dumps(
    {
        "id": "evt_01m7ydhm7019y3t85ddgcfgher",
        "type": "payment.completed",
        "data": {
            "paymentId": "ftx_01m7ydhm7019y3t85ddgcfgher",
            "amount": 12345,
            "status": "completed",
            "currency": "USD",
            "direction": "in",
            "sequence": 4,
            "failureCode": None,
            "returnCode": None,
            "network": None,
        },
        "timestamp": "2026-11-20T15:00:00.000000Z",
    },
    separators=(",", ":"),
).encode()


@dataclass(frozen=True)
class Receiver:
    """The running receiver."""

    server: Server

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server.port}/{path}"

    def arrivals(self) -> list[tuple[str, float]]:
        """What came so far: path and Unix time."""
        return [(path, at) for path, at in json.loads(self._ask("GET"))]

    def forget(self) -> None:
        self._ask("DELETE")

    def _ask(self, method: str) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
        try:
            connection.request(method, "/")
            return connection.getresponse().read()
        finally:
            connection.close()


@contextmanager
def receiver() -> Iterator[Receiver]:
    """Runs for the block."""
    port = processes.free_port()
    command = [sys.executable, "-m", "benchmarks.receiver", str(port)]
    with processes.program(command, name="receiver", port=port) as server:
        yield Receiver(server)


@contextmanager
def dispatcher() -> Iterator[Server]:
    """The shipped process, for the block."""
    command = [sys.executable, "manage.py", "dispatch_webhooks"]
    with processes.program(command, name="dispatcher") as server:
        yield server


def endpoint(tenant: Tenant, url: str, *, secret: str = "") -> WebhookEndpoint:
    """One that takes every payment event."""
    now = utc_now()
    row = WebhookEndpoint(tenant=tenant, url=url, events=["*"], created_at=now, updated_at=now)
    row.secret_token = seeding.endpoint_secret(row.pk, secret or signing.new_secret())
    row.save(force_insert=True)
    return row


def due(to: WebhookEndpoint, count: int, *, now: datetime | None = None) -> None:
    """`count` events, each with a delivery to this endpoint that is due."""
    values: dict[str, Any] = {
        "prefix": ids.new("b")[-11:],
        "tenant": to.tenant_id,
        "endpoint": to.pk,
        "count": count,
        "body": BODY,
        "now": now or utc_now(),
    }
    database.execute(_DUE, **values)


def await_settled(count: int, *, seconds: float) -> None:
    """Wait until so many deliveries are over. Raises CannotMeasure when they are not in time."""
    end = time.monotonic() + seconds
    while (found := database.scalar(SETTLED)) < count:
        if time.monotonic() > end:
            raise CannotMeasure(f"{found} of {count} deliveries were sent in {seconds:.0f} s")
        time.sleep(0.02)


def await_empty_queue(*, seconds: float) -> float:
    """Wait until no delivery is pending; returns the Unix time. Raises CannotMeasure.

    It asks the queue's index: to count again and again took PostgreSQL a tenth of its time.
    """
    end = time.monotonic() + seconds
    while database.scalar(_PENDING):
        if time.monotonic() > end:
            raise CannotMeasure(f"the queue was not empty after {seconds:.0f} s")
        time.sleep(0.02)
    return time.time()
