"""The demo tenant's webhook endpoint, and what its receiver answered while it was on.

Its name leads nowhere, so nothing is ever sent there. Each try is claimed and recorded as the
dispatcher does it, and the endpoint is switched off before the demo begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.db.models import QuerySet

from common import leases
from common.engine.http.client import Answer
from tenants.actors import SYSTEM
from tenants.models import Tenant
from webhooks import selectors
from webhooks.dispatcher import outcomes, results
from webhooks.dispatcher.claims import Job
from webhooks.dispatcher.results import Result
from webhooks.models import DisabledReason, WebhookDelivery
from webhooks.services import endpoints
from webhooks.services.urls import CheckedUrl

_ADDRESS = CheckedUrl("https://hooks.northwind.example/ballast")
_RECEIVED = Answer(status=200, body=b"received", duration_ms=38)
_BUSY = Answer(status=503, body=b"try again", duration_ms=12)
_BROKEN = Answer(status=500, body=b'{"error": "unknown invoice"}', duration_ms=210)


class Receiver:
    """Accepts every event except two `payment.completed`: it refuses the first one for ever and the
    third one twice.
    """

    def __init__(self, tenant: Tenant, *, now: datetime) -> None:
        registered = endpoints.register(
            tenant_id=tenant.pk,
            url=_ADDRESS,
            events=["*"],
            description="Bookkeeping, until its move",
            actor=SYSTEM,
            now=now,
        )
        self._endpoint = registered.endpoint
        self._completed: list[str] = []

    def take(self, *, now: datetime) -> None:
        """Try everything that falls due until `now`, each at its time."""
        while (due := self._first_due()) is not None and due <= now:
            results.record(list(self._tries(due)), now=due)

    def close(self, *, now: datetime) -> None:
        """Take what is left, and be told of nothing more."""
        self.take(now=now)
        endpoints.disable(
            tenant_id=self._endpoint.tenant_id,
            endpoint_id=self._endpoint.pk,
            reason=DisabledReason.TENANT,
            actor=SYSTEM,
            now=now,
        )

    def _first_due(self) -> datetime | None:
        waiting = self._deliveries().exclude(next_attempt_at=None)
        return waiting.values_list("next_attempt_at", flat=True).order_by("next_attempt_at").first()

    def _tries(self, now: datetime) -> Iterator[Result]:
        for row in leases.claim(self._deliveries(), now=now, limit=50):
            answer = self._answer(row)
            outcome = outcomes.judge(answer, failures=row.failures, jitter=0, now=now)
            yield Result(Job.of(row), answer, outcome, started_at=now)

    def _deliveries(self) -> QuerySet[WebhookDelivery]:
        return selectors.deliveries(
            tenant_id=self._endpoint.tenant_id, endpoint_id=self._endpoint.pk
        )

    def _answer(self, row: WebhookDelivery) -> Answer:
        if row.event.type != "payment.completed":
            return _RECEIVED
        if row.pk not in self._completed:
            self._completed.append(row.pk)
        number = self._completed.index(row.pk)
        if number == 0:
            return _BROKEN
        return _BUSY if number == 2 and row.failures < 2 else _RECEIVED
