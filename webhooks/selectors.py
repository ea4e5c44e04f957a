"""Reads about webhooks."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from common import ids
from common.errors import NotFound
from webhooks.models import (
    DisabledReason,
    WebhookAttempt,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
)
from webhooks.states import DeliveryStatus, EndpointStatus


def endpoints(*, tenant_id: str) -> QuerySet[WebhookEndpoint]:
    """The tenant's endpoints, without removed ones."""
    known = WebhookEndpoint.objects.filter(tenant_id=tenant_id)
    return known.exclude(status=EndpointStatus.REMOVED)


def troubled_endpoints(*, tenant_id: str) -> QuerySet[WebhookEndpoint]:
    """Those that fail, or were switched off by somebody else than the tenant."""
    failing = Q(status=EndpointStatus.ENABLED, consecutive_failures__gt=0)
    switched_off = Q(status=EndpointStatus.DISABLED) & ~Q(disabled_reason=DisabledReason.TENANT)
    return endpoints(tenant_id=tenant_id).filter(failing | switched_off).order_by("created_at")


def endpoint(*, tenant_id: str, endpoint_id: str) -> WebhookEndpoint:
    """Raises NotFound, for another tenant's endpoint too."""
    _require_form(endpoint_id, "wh")
    found = endpoints(tenant_id=tenant_id).filter(pk=endpoint_id).first()
    if found is None:
        raise NotFound("There is no such webhook endpoint.")
    return found


def deliveries(*, tenant_id: str, endpoint_id: str) -> QuerySet[WebhookDelivery]:
    """What was to be sent to one endpoint. Raises NotFound."""
    endpoint(tenant_id=tenant_id, endpoint_id=endpoint_id)
    return WebhookDelivery.objects.filter(endpoint_id=endpoint_id).select_related("event")


def delivery(*, tenant_id: str, delivery_id: str) -> WebhookDelivery:
    """Raises NotFound."""
    _require_form(delivery_id, "dlv")
    found = (
        WebhookDelivery.objects.filter(tenant_id=tenant_id, pk=delivery_id)
        .exclude(endpoint__status=EndpointStatus.REMOVED)
        .select_related("event")
        .first()
    )
    if found is None:
        raise NotFound("There is no such delivery.")
    return found


def deliveries_of(*, event_id: str) -> QuerySet[WebhookDelivery]:
    """To whom an event was to be sent, endpoints included, without removed ones."""
    rows = WebhookDelivery.objects.filter(event_id=event_id)
    rows = rows.exclude(endpoint__status=EndpointStatus.REMOVED)
    return rows.select_related("event", "endpoint").order_by("created_at", "pk")


def waiting(*, endpoint_id: str) -> int:
    """How many deliveries to an endpoint are still on their way."""
    return WebhookDelivery.objects.filter(
        endpoint_id=endpoint_id, status=DeliveryStatus.PENDING
    ).count()


def attempts(*, delivery_id: str) -> QuerySet[WebhookAttempt]:
    """Every try of a delivery, the last one first."""
    return WebhookAttempt.objects.filter(delivery_id=delivery_id).order_by("-number")


def events(*, tenant_id: str) -> QuerySet[WebhookEvent]:
    """What happened in the last 30 days, whoever was told."""
    return WebhookEvent.objects.filter(tenant_id=tenant_id)


def event(*, tenant_id: str, event_id: str) -> WebhookEvent:
    """Raises NotFound."""
    _require_form(event_id, "evt")
    found = events(tenant_id=tenant_id).filter(pk=event_id).first()
    if found is None:
        raise NotFound("There is no such event; events are kept for 30 days.")
    return found


def _require_form(text: str, prefix: str) -> None:
    """What is no id at all never reaches the database, which would not take every character."""
    if not ids.is_id(text, prefix):
        raise NotFound("This is not the id of anything here.")
