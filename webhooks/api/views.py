"""`/webhooks`: where a tenant's events go."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, ClassVar

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from api import responses
from api.authentication import TenantRequest
from api.idempotency import idempotent
from api.pagination import paginate
from api.schema import PAGE_PARAMETERS, envelope, page, refuses
from api.serializers import validated
from api.views import ApiViewSet
from common.clock import utc_now
from webhooks import errors, selectors
from webhooks.api import presenters
from webhooks.api import serializers as bodies
from webhooks.services import endpoints, pings, replays, urls
from webhooks.services.pings import Ping


class WebhookViewSet(ApiViewSet):
    scopes: ClassVar = {
        "list": "webhooks:read",
        "retrieve": "webhooks:read",
        "create": "webhooks:write",
        "change": "webhooks:write",
        "remove": "webhooks:write",
        "rotate_secret": "webhooks:write",
        "test": "webhooks:write",
        "replay": "webhooks:write",
    }

    @extend_schema(parameters=PAGE_PARAMETERS, responses=page(bodies.WebhookOut))
    def list(self, request: TenantRequest) -> HttpResponse:
        """Endpoints, newest first."""
        rows = selectors.endpoints(tenant_id=request.auth.tenant_id)
        return paginate(request, rows, present=presenters.endpoint)

    @extend_schema(responses=envelope(bodies.WebhookOut))
    def retrieve(self, request: TenantRequest, endpoint_id: str) -> HttpResponse:
        """One endpoint with its health."""
        row = selectors.endpoint(tenant_id=request.auth.tenant_id, endpoint_id=endpoint_id)
        return responses.data(presenters.endpoint(row))

    def prepare_create(self, request: TenantRequest) -> dict[str, Any]:
        return _with_checked_url(request, validated(bodies.WebhookIn, request.data))

    @extend_schema(
        request=bodies.WebhookIn,
        responses={201: envelope(bodies.WebhookWithSecretOut)},
        extensions=refuses(
            errors.InvalidWebhookUrl, errors.InvalidWebhookEvents, errors.TooManyWebhooks
        ),
    )
    @idempotent
    def create(self, request: TenantRequest, prepared: dict[str, Any]) -> HttpResponse:
        """Register a URL for events; the answer holds its secret, this once."""
        made = endpoints.register(
            tenant_id=request.auth.tenant_id,
            **prepared,
            actor=request.auth.actor,
            now=utc_now(),
        )
        return responses.data(
            presenters.endpoint_with_secret(made),
            status=201,
            location=f"/api/v1/webhooks/{made.endpoint.pk}",
        )

    def prepare_change(self, request: TenantRequest, endpoint_id: str) -> dict[str, Any]:
        selectors.endpoint(tenant_id=request.auth.tenant_id, endpoint_id=endpoint_id)
        return _with_checked_url(request, validated(bodies.WebhookChangesIn, request.data))

    @extend_schema(
        request=bodies.WebhookChangesIn,
        responses=envelope(bodies.WebhookOut),
        extensions=refuses(errors.InvalidWebhookUrl, errors.InvalidWebhookEvents),
    )
    @idempotent
    def change(
        self, request: TenantRequest, endpoint_id: str, prepared: dict[str, Any]
    ) -> HttpResponse:
        """Change URL, events or description; switch off or on again."""
        row = endpoints.update(
            tenant_id=request.auth.tenant_id,
            endpoint_id=endpoint_id,
            **prepared,
            actor=request.auth.actor,
            now=utc_now(),
        )
        return responses.data(presenters.endpoint(row))

    @extend_schema(request=None, responses={200: envelope(bodies.RemovedWebhookOut)})
    @idempotent
    def remove(self, request: TenantRequest, endpoint_id: str) -> HttpResponse:
        """Send nothing more to this endpoint, for good."""
        row = endpoints.remove(
            tenant_id=request.auth.tenant_id,
            endpoint_id=endpoint_id,
            actor=request.auth.actor,
            now=utc_now(),
        )
        return responses.data(presenters.removal(row))

    @extend_schema(
        request=bodies.RotateSecretIn,
        responses=envelope(bodies.WebhookWithSecretOut),
        extensions=refuses(errors.SecretsOverlap),
    )
    @idempotent
    def rotate_secret(self, request: TenantRequest, endpoint_id: str) -> HttpResponse:
        """A new secret, shown this once; the old one signs as well for 24 hours.

        While an older one still does, only `overlapSeconds: 0` is taken: it ends both."""
        values = validated(bodies.RotateSecretIn, request.data)
        made = endpoints.rotate_secret(
            tenant_id=request.auth.tenant_id,
            endpoint_id=endpoint_id,
            overlap=timedelta(seconds=values["overlap"]),
            actor=request.auth.actor,
            now=utc_now(),
        )
        return responses.data(presenters.endpoint_with_secret(made))

    def prepare_test(self, request: TenantRequest, endpoint_id: str) -> Ping:
        validated(bodies.NothingIn, request.data)
        return pings.ping(
            tenant_id=request.auth.tenant_id,
            endpoint_id=endpoint_id,
            mode=request.auth.mode,
            now=utc_now(),
        )

    @extend_schema(
        request=bodies.NothingIn,
        responses=envelope(bodies.WebhookTestOut),
        extensions=refuses(errors.WebhookTestRunning, errors.WebhooksStopped),
    )
    @idempotent
    def test(self, request: TenantRequest, endpoint_id: str, prepared: Ping) -> HttpResponse:
        """Send a `webhook.test` event now and answer with what the receiver said."""
        return responses.data(presenters.ping(prepared))

    @extend_schema(
        request=bodies.ReplayIn,
        responses=envelope(bodies.ReplayOut),
        extensions=refuses(errors.InvalidReplayWindow, errors.WebhookDisabled),
    )
    @idempotent
    def replay(self, request: TenantRequest, endpoint_id: str) -> HttpResponse:
        """Send the events of a window again: those that never arrived, or all of them."""
        made = replays.replay(
            tenant_id=request.auth.tenant_id,
            endpoint_id=endpoint_id,
            **validated(bodies.ReplayIn, request.data),
            actor=request.auth.actor,
            now=utc_now(),
        )
        return responses.data(presenters.replay(made))


def _with_checked_url(request: TenantRequest, values: dict[str, Any]) -> dict[str, Any]:
    """`url` as services take it. Looks the name up, so it runs outside the transaction."""
    if "url" not in values:
        return values
    return {**values, "url": urls.check(values["url"], mode=request.auth.mode)}
