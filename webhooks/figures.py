"""How webhooks do over all tenants, for the staff desk. Each figure reads an index or a bounded
time window."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Min, Q

from common import leases
from webhooks.dispatcher import heartbeats
from webhooks.models import WebhookAttempt, WebhookDelivery, WebhookEndpoint
from webhooks.states import DeliveryStatus, EndpointStatus

RATE_WINDOW = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True)
class WebhookHealth:
    """The requests of the last hour, what waits now, and the endpoints in trouble."""

    attempts: int
    successes: int
    backlog: int
    oldest_due_at: datetime | None
    disabled: int
    failing: int
    has_dispatcher: bool

    @property
    def success_percent(self) -> float | None:
        """The share of successful requests; None if none was sent."""
        return 100 * self.successes / self.attempts if self.attempts else None


def health(*, now: datetime) -> WebhookHealth:
    """The figures of this moment. Four queries."""
    recent = WebhookAttempt.objects.filter(started_at__gte=now - RATE_WINDOW)
    tries = recent.aggregate(
        attempts=Count("pk"), successes=Count("pk", filter=Q(status_code__range=(200, 299)))
    )
    due = WebhookDelivery.objects.filter(leases.is_due(now), status=DeliveryStatus.PENDING)
    waiting = due.aggregate(backlog=Count("pk"), oldest_due_at=Min("next_attempt_at"))
    endpoints = WebhookEndpoint.objects.aggregate(
        disabled=Count("pk", filter=Q(status=EndpointStatus.DISABLED)),
        failing=Count(
            "pk", filter=Q(status=EndpointStatus.ENABLED, first_failure_at__isnull=False)
        ),
    )
    return WebhookHealth(
        **tries, **waiting, **endpoints, has_dispatcher=heartbeats.is_dispatcher_alive(now=now)
    )
