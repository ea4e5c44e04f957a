"""`/webhooks/…/deliveries` and `/events`: what was sent, and what happened."""

from __future__ import annotations

from typing import ClassVar

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from api import responses
from api.authentication import TenantRequest
from api.idempotency import idempotent
from api.pagination import paginate
from api.schema import envelope, page
from api.views import ApiViewSet
from common.clock import utc_now
from webhooks import selectors
from webhooks.api import presenters
from webhooks.api import serializers as bodies
from webhooks.api.filters import (
    DELIVERY_PARAMETERS,
    EVENT_PARAMETERS,
    DeliveryFilter,
    EventFilter,
)
from webhooks.services import deliveries


class WebhookDeliveryViewSet(ApiViewSet):
    scopes: ClassVar = {
        "list": "webhooks:read",
        "retrieve": "webhooks:read",
        "resend": "webhooks:write",
    }

    @extend_schema(parameters=DELIVERY_PARAMETERS, responses=page(bodies.WebhookDeliveryOut))
    def list(self, request: TenantRequest, endpoint_id: str) -> HttpResponse:
        """What was to be sent to one endpoint, newest first."""
        rows = selectors.deliveries(tenant_id=request.auth.tenant_id, endpoint_id=endpoint_id)
        return paginate(request, DeliveryFilter.apply(request, rows), present=presenters.delivery)

    @extend_schema(responses=envelope(bodies.WebhookDeliveryDetailOut))
    def retrieve(self, request: TenantRequest, delivery_id: str) -> HttpResponse:
        """One delivery with every try."""
        row = selectors.delivery(tenant_id=request.auth.tenant_id, delivery_id=delivery_id)
        attempts = selectors.attempts(delivery_id=row.pk)
        return responses.data(presenters.delivery_with_attempts(row, attempts))

    @extend_schema(request=None, responses=envelope(bodies.WebhookDeliveryOut))
    @idempotent
    def resend(self, request: TenantRequest, delivery_id: str) -> HttpResponse:
        """Send the same bytes again, whatever became of them."""
        row = deliveries.resend(
            tenant_id=request.auth.tenant_id,
            delivery_id=delivery_id,
            actor=request.auth.actor,
            now=utc_now(),
        )
        return responses.data(presenters.delivery(row))


class EventViewSet(ApiViewSet):
    scopes: ClassVar = {"list": "webhooks:read", "retrieve": "webhooks:read"}

    @extend_schema(parameters=EVENT_PARAMETERS, responses=page(bodies.EventOut))
    def list(self, request: TenantRequest) -> HttpResponse:
        """What happened in the last 30 days, newest first, whoever was told."""
        rows = selectors.events(tenant_id=request.auth.tenant_id)
        return paginate(request, EventFilter.apply(request, rows), present=presenters.event)

    @extend_schema(responses=envelope(bodies.EventOut))
    def retrieve(self, request: TenantRequest, event_id: str) -> HttpResponse:
        """One event, as its receivers got it."""
        row = selectors.event(tenant_id=request.auth.tenant_id, event_id=event_id)
        return responses.data(presenters.event(row))
