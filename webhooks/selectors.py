"""Reads about webhooks."""

from __future__ import annotations

from collections.abc import Sequence

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
    """The endpoints that fail, or that were switched off by anybody but the tenant."""
    failing = Q(status=EndpointStatus.ENABLED, consecutive_failures__gt=0)
    switched_off = Q(status=EndpointStatus.DISABLED) & ~Q(disabled_reason=DisabledReason.TENANT)
    return endpoints(tenant_id=tenant_id).filter(failing | switched_off).order_by("created_at")


def endpoint(*, tenant_id: str, endpoint_id: str) -> WebhookEndpoint:
    """One endpoint of the tenant. Raises NotFound, also for another tenant's."""
    _require_form(endpoint_id, "wh")
    found = endpoints(tenant_id=tenant_id).filter(pk=endpoint_id).first()
    if found is None:
        raise NotFound("There is no such webhook endpoint.")
    return found


def deliveries(*, tenant_id: str, endpoint_id: str) -> QuerySet[WebhookDelivery]:
    """The deliveries to one endpoint. Raises NotFound."""
    endpoint(tenant_id=tenant_id, endpoint_id=endpoint_id)
    return WebhookDelivery.objects.filter(endpoint_id=endpoint_id).select_related("event")


def every_delivery(*, tenant_id: str) -> QuerySet[WebhookDelivery]:
    """The tenant's deliveries with their events, without those to removed endpoints."""
    rows = WebhookDelivery.objects.filter(tenant_id=tenant_id).select_related("event")
    return rows.exclude(endpoint__status=EndpointStatus.REMOVED)


def delivery(*, tenant_id: str, delivery_id: str) -> WebhookDelivery:
    """One delivery of the tenant. Raises NotFound."""
    _require_form(delivery_id, "dlv")
    found = every_delivery(tenant_id=tenant_id).filter(pk=delivery_id).first()
    if found is None:
        raise NotFound("There is no such delivery.")
    return found


def deliveries_of(*, event_id: str) -> QuerySet[WebhookDelivery]:
    """The deliveries of an event with their endpoints, without removed ones."""
    rows = WebhookDelivery.objects.filter(event_id=event_id)
    rows = rows.exclude(endpoint__status=EndpointStatus.REMOVED)
    return rows.select_related("event", "endpoint").order_by("created_at", "pk")


def events_about(*, tenant_id: str, payment_id: str) -> QuerySet[WebhookEvent]:
    """The tenant's events of one funding or payment, in their order, without their bodies."""
    rows = events(tenant_id=tenant_id).filter(payment_id=payment_id).exclude(payment_id="")
    return rows.defer("body").order_by("sequence")


def deliveries_of_all(*, event_ids: Sequence[str]) -> QuerySet[WebhookDelivery]:
    """The deliveries of these events with their endpoints, without removed ones, in the order of
    the events; without their bodies, and without the endpoints' secrets, which the desk may not
    read."""
    rows = WebhookDelivery.objects.filter(event_id__in=event_ids)
    rows = rows.exclude(endpoint__status=EndpointStatus.REMOVED)
    rows = rows.select_related("event", "endpoint").defer(
        "event__body", "endpoint__secret_token", "endpoint__previous_secret_token"
    )
    return rows.order_by("event__sequence", "created_at", "pk")


def earlier_delivery(row: WebhookDelivery) -> WebhookDelivery | None:
    """The pending delivery of an earlier event of the same payment to the same endpoint, the last
    of them, which `row` is sent after; None if there is none."""
    pending = WebhookDelivery.objects.filter(
        endpoint_id=row.endpoint_id, status=DeliveryStatus.PENDING, payment_id=row.payment_id
    )
    earlier = pending.exclude(payment_id="").filter(sequence__lt=row.sequence)
    return earlier.order_by("-sequence").first()


def waiting(*, endpoint_id: str) -> int:
    """How many deliveries to an endpoint are still pending."""
    return WebhookDelivery.objects.filter(
        endpoint_id=endpoint_id, status=DeliveryStatus.PENDING
    ).count()


def attempts(*, delivery_id: str) -> QuerySet[WebhookAttempt]:
    """Every try of a delivery, newest first."""
    return WebhookAttempt.objects.filter(delivery_id=delivery_id).order_by("-number")


def events(*, tenant_id: str) -> QuerySet[WebhookEvent]:
    """The events of the last 30 days, whether or not an endpoint wanted them."""
    return WebhookEvent.objects.filter(tenant_id=tenant_id)


def event(*, tenant_id: str, event_id: str) -> WebhookEvent:
    """One event of the tenant. Raises NotFound."""
    _require_form(event_id, "evt")
    found = events(tenant_id=tenant_id).filter(pk=event_id).first()
    if found is None:
        raise NotFound("There is no such event; events are kept for 30 days.")
    return found


def _require_form(text: str, prefix: str) -> None:
    """Raises NotFound for text that is not an id, because the database would not accept every
    character."""
    if not ids.is_id(text, prefix):
        raise NotFound("This is not the id of anything here.")
