"""A test call: one request now, and the receiver's answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from common import ids
from common.engine.http import urls as http_urls
from common.engine.http.client import Answer, post_once
from tenants.models import Tenant
from tenants.switches import SwitchKind, covering
from webhooks import bodies, events, selectors
from webhooks.dispatcher.sender import Message, headers_of
from webhooks.errors import WebhooksStopped, WebhookTestRunning
from webhooks.models import WebhookEndpoint
from webhooks.services import urls
from webhooks.services.secrets import decrypt_secrets

# Longer than a request takes. If a web process dies during a test, the next one can start after it.
_TEST_SECONDS = timedelta(seconds=20)


@dataclass(frozen=True)
class Ping:
    """The event that was made up for the test, and the answer to it."""

    event_id: str
    answer: Answer


def ping(*, tenant_id: str, endpoint_id: str, mode: str, now: datetime) -> Ping:
    """Send a `webhook.test` event to the endpoint, whether it is on or off. The event is not
    stored, not repeated, and says nothing about the endpoint's health.

    Blocks for up to 15 s; hold no transaction. Raises NotFound, WebhooksStopped, and
    WebhookTestRunning: one test per tenant at a time, because each occupies a web process.
    """
    endpoint = selectors.endpoint(tenant_id=tenant_id, endpoint_id=endpoint_id)
    if covering(SwitchKind.WEBHOOKS, tenant_id=tenant_id).exists():
        raise WebhooksStopped("Nothing is sent for the moment.")
    until = _begin(endpoint, now)
    try:
        return _send(endpoint, mode, now)
    finally:
        mine = WebhookEndpoint.objects.filter(pk=endpoint_id, testing_until=until)
        mine.update(testing_until=None)


@transaction.atomic
def _begin(endpoint: WebhookEndpoint, now: datetime) -> datetime:
    """Mark the endpoint as being tested, one at a time per tenant; returns until when."""
    Tenant.objects.select_for_update(no_key=True).get(pk=endpoint.tenant_id)
    if selectors.endpoints(tenant_id=endpoint.tenant_id).filter(testing_until__gt=now).exists():
        raise WebhookTestRunning("Another test call of this tenant has not ended yet.")
    until = now + _TEST_SECONDS
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(testing_until=until)
    return until


def _send(endpoint: WebhookEndpoint, mode: str, now: datetime) -> Ping:
    event_id = ids.new("evt")
    data = bodies.PingData(webhook_id=endpoint.pk)
    body = bodies.bytes_of(event_id=event_id, type=events.TEST, data=data, now=now)
    secrets = decrypt_secrets(
        endpoint_id=endpoint.pk,
        token=endpoint.secret_token,
        previous_token=endpoint.previous_secret_token,
        previous_expires_at=endpoint.previous_secret_expires_at,
        now=now,
    )
    answer = post_once(
        http_urls.policy(),
        endpoint.url,
        body=body,
        headers=headers_of(Message(event_id, body, attempt=1), secrets, now=now),
        allow_http=urls.allows_http(mode),
    )
    return Ping(event_id, answer)
