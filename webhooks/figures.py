"""How webhooks do over all tenants, for the staff desk. Each figure reads an index or a bounded
time window."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from django.db.models import Count, DateTimeField, Min, Q

from common import leases
from common.engine import compiled
from common.engine.compiled import Given, Statement
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
    ((attempts, successes),) = _tries().rows(since=now - RATE_WINDOW)
    ((backlog, oldest_due_at),) = _waiting().rows(now=now)
    ((disabled, failing),) = _endpoints().rows()
    return WebhookHealth(
        attempts=attempts,
        successes=successes,
        backlog=backlog,
        oldest_due_at=oldest_due_at,
        disabled=disabled,
        failing=failing,
        has_dispatcher=heartbeats.is_dispatcher_alive(now=now),
    )


@cache
def _tries() -> Statement:
    recent = WebhookAttempt.objects.filter(started_at__gte=Given("since", DateTimeField()))
    succeeded = Count("pk", filter=Q(status_code__range=(200, 299)))
    return compiled.union(compiled.sums(recent, attempts=Count("pk"), successes=succeeded))


@cache
def _waiting() -> Statement:
    is_due = leases.is_due(Given("now", DateTimeField()))
    due = WebhookDelivery.objects.filter(is_due, status=DeliveryStatus.PENDING)
    oldest = Min("next_attempt_at")
    return compiled.union(compiled.sums(due, backlog=Count("pk"), oldest_due_at=oldest))


@cache
def _endpoints() -> Statement:
    is_disabled = Q(status=EndpointStatus.DISABLED)
    fails = Q(status=EndpointStatus.ENABLED, first_failure_at__isnull=False)
    return compiled.union(
        compiled.sums(
            WebhookEndpoint.objects.all(),
            disabled=Count("pk", filter=is_disabled),
            failing=Count("pk", filter=fails),
        )
    )
