"""The demo tenant's endpoint that leads to the webhook receiver of this copy, where there is one.

Running it again changes only what differs: the receiver's port and secret belong to its folder.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction

from devstack.receiver import connection
from devstack.receiver.connection import Connection
from tenants.actors import SYSTEM
from tenants.models import Tenant
from webhooks import selectors
from webhooks.errors import InvalidWebhookUrl
from webhooks.models import WebhookEndpoint
from webhooks.services import endpoints, urls
from webhooks.services.urls import CheckedUrl

DESCRIPTION = "The receiver of this copy"


def ensure(tenant: Tenant, *, now: datetime) -> Connection | None:
    """Send the tenant's events to the receiver; None where none runs, or this copy sends nothing to
    its own machine. Not inside a transaction."""
    found = connection.load(Path(settings.RUN_DIR) / "receiver")
    if found is None:
        return None
    try:
        url = urls.check(found.url, mode=tenant.mode)
    except InvalidWebhookUrl:
        return None
    _lead(tenant, url, found.secret, now)
    return found


@transaction.atomic
def _lead(tenant: Tenant, url: CheckedUrl, secret: str, now: datetime) -> None:
    endpoint = _known(tenant) or _registered(tenant, url, now)
    endpoints.update(tenant_id=tenant.pk, endpoint_id=endpoint.pk, url=url, actor=SYSTEM, now=now)
    endpoints.rotate_secret(
        tenant_id=tenant.pk,
        endpoint_id=endpoint.pk,
        overlap=timedelta(0),
        secret=secret,
        actor=SYSTEM,
        now=now,
    )


def _known(tenant: Tenant) -> WebhookEndpoint | None:
    return selectors.endpoints(tenant_id=tenant.pk).filter(description=DESCRIPTION).first()


def _registered(tenant: Tenant, url: CheckedUrl, now: datetime) -> WebhookEndpoint:
    made = endpoints.register(
        tenant_id=tenant.pk, url=url, events=["*"], description=DESCRIPTION, actor=SYSTEM, now=now
    )
    return made.endpoint
