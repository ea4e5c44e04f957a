"""Failing endpoints: warn their owners, switch them off after five days (docs/webhooks.md)."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction

from common import clock
from common.database.job_doors import by
from common.database.jobs import DISPATCHER
from common.database_clock import judged
from tenants.actors import SYSTEM
from tenants.services import emails
from webhooks import metrics
from webhooks.models import DisabledReason, WebhookEndpoint
from webhooks.services import endpoints
from webhooks.states import EndpointStatus

WARN_AFTER = (timedelta(days=1), timedelta(days=3))
OFF_AFTER = timedelta(days=5)


@by(DISPATCHER)
@judged
def review(*, now: datetime) -> int:
    """Warn of or switch off each endpoint that has failed for long enough; returns how many."""
    failing = WebhookEndpoint.objects.filter(
        status=EndpointStatus.ENABLED, first_failure_at__lte=now - WARN_AFTER[0]
    )
    return sum(_review(endpoint_id, now) for endpoint_id in failing.values_list("pk", flat=True))


@transaction.atomic
def switch_off_gone(*, endpoint_id: str, url: str, now: datetime) -> bool:
    """Switch off an endpoint that answered 410, unless its URL was changed meanwhile."""
    endpoint = (
        WebhookEndpoint.objects.select_for_update(no_key=True)
        .filter(pk=endpoint_id, url=url, status=EndpointStatus.ENABLED)
        .first()
    )
    if endpoint is None:
        return False
    _switch_off(endpoint, DisabledReason.GONE, now)
    return True


@transaction.atomic
def _review(endpoint_id: str, now: datetime) -> bool:
    endpoint = (
        WebhookEndpoint.objects.select_for_update(no_key=True, skip_locked=True)
        .filter(pk=endpoint_id, status=EndpointStatus.ENABLED, first_failure_at__isnull=False)
        .first()
    )
    if endpoint is None or endpoint.first_failure_at is None:
        return False
    failing_for = now - endpoint.first_failure_at
    if failing_for >= OFF_AFTER:
        _switch_off(endpoint, DisabledReason.FAILING, now)
        return True
    stage = sum(failing_for >= limit for limit in WARN_AFTER)
    if stage <= endpoint.warnings_sent:
        return False
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(warnings_sent=stage)
    _tell_owners(endpoint, "webhook_failing", now, days=WARN_AFTER[stage - 1].days)
    return True


def _switch_off(endpoint: WebhookEndpoint, reason: DisabledReason, now: datetime) -> None:
    endpoints.disable(
        tenant_id=endpoint.tenant_id,
        endpoint_id=endpoint.pk,
        reason=reason,
        actor=SYSTEM,
        now=now,
    )
    metrics.SWITCHED_OFF.labels(str(reason)).inc()
    _tell_owners(endpoint, "webhook_disabled", now, reason=str(reason))


def _tell_owners(
    endpoint: WebhookEndpoint, template: str, now: datetime, **details: object
) -> None:
    failing_since = endpoint.first_failure_at
    context = {
        "tenant_name": endpoint.tenant.name,
        "endpoint_id": endpoint.pk,
        "url": endpoint.url_without_query,
        "failing_since": clock.text_of(failing_since) if failing_since else None,
        "off_after_days": OFF_AFTER.days,
        **details,
    }
    emails.queue_notice(tenant_id=endpoint.tenant_id, template=template, context=context, now=now)
