"""Registration, changes, secrets, switching on and off of the endpoints that get a
tenant's events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from common import clock, crypto, ids
from common.database import undisclosed
from common.errors import NotFound
from tenants.actors import Actor
from tenants.models import Tenant
from tenants.services import audit
from webhooks import events as names
from webhooks import selectors, signing
from webhooks.errors import (
    InvalidSecretOverlap,
    InvalidWebhookEvents,
    SecretsOverlap,
    TooManyWebhooks,
)
from webhooks.models import ENDPOINTS_PER_TENANT_MAX, DisabledReason, WebhookEndpoint
from webhooks.services import deliveries
from webhooks.services.urls import CheckedUrl
from webhooks.states import ENDPOINT_STATES, EndpointStatus

OVERLAP_DEFAULT = timedelta(hours=24)
OVERLAP_MAX = timedelta(days=7)

# The columns of a clean record: after a change of URL, and when it is switched on again.
_HEALTHY: dict[str, Any] = {
    "consecutive_failures": 0,
    "first_failure_at": None,
    "paused_until": None,
    "warnings_sent": 0,
}


@dataclass(frozen=True)
class WithSecret:
    """An endpoint with the secret it just got. The secret is shown this once."""

    endpoint: WebhookEndpoint
    secret: str


@transaction.atomic
def register(
    *,
    tenant_id: str,
    url: CheckedUrl,
    events: Sequence[str],
    description: str = "",
    endpoint_id: str | None = None,
    actor: Actor,
    now: datetime,
) -> WithSecret:
    """Register an endpoint with a new secret. A repeat with the same `endpoint_id` returns the same
    endpoint. Raises InvalidWebhookEvents, TooManyWebhooks, and NotFound if that endpoint was
    removed since."""
    check_events(events)
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)
    known = selectors.endpoints(tenant_id=tenant_id)
    if endpoint_id and (made := known.filter(pk=endpoint_id).first()):
        return WithSecret(made, _secret_of(made))
    if endpoint_id and _is_removed(tenant_id, endpoint_id):
        raise NotFound("What this form registered was removed. Open the form anew.")
    if known.count() >= ENDPOINTS_PER_TENANT_MAX:
        raise TooManyWebhooks(f"A tenant has at most {ENDPOINTS_PER_TENANT_MAX} endpoints.")
    secret = signing.new_secret()
    endpoint = WebhookEndpoint(
        tenant_id=tenant_id,
        url=url.text,
        events=list(events),
        description=description,
        created_at=now,
        updated_at=now,
        **({"id": endpoint_id} if endpoint_id else {}),
    )
    endpoint.secret_token = crypto.encrypt(secret, context=endpoint.encryption_context)
    endpoint.save(force_insert=True)
    _audit(endpoint, "registered", actor, now, url=url.text, events=list(events))
    return WithSecret(endpoint, secret)


@transaction.atomic
def update(
    *,
    tenant_id: str,
    endpoint_id: str,
    url: CheckedUrl | None = None,
    events: Sequence[str] | None = None,
    description: str | None = None,
    status: str | None = None,
    actor: Actor,
    now: datetime,
) -> WebhookEndpoint:
    """Change the values that are given; None leaves a value as it is.

    Deliveries that are still pending go to the new URL. Raises NotFound, InvalidWebhookEvents.
    """
    endpoint = _locked(tenant_id, endpoint_id)
    changes: dict[str, Any] = {}
    if url is not None and url.text != endpoint.url:
        changes |= {"url": url.text, **_HEALTHY}
    if events is not None:
        check_events(events)
        changes["events"] = list(events)
    if description is not None:
        changes["description"] = description
    if changes:
        _write(endpoint, now=now, **changes)
        shown = {name: changes[name] for name in ("url", "events") if name in changes}
        _audit(endpoint, "updated", actor, now, **shown)
    if status == EndpointStatus.ENABLED:
        _enable(endpoint, actor, now)
    elif status == EndpointStatus.DISABLED:
        _disable(endpoint, DisabledReason.TENANT, actor, now)
    return endpoint


@transaction.atomic
def enable(*, tenant_id: str, endpoint_id: str, actor: Actor, now: datetime) -> WebhookEndpoint:
    """Switch an endpoint on again, with a clean record. Skipped deliveries wait for a replay.
    Repeatable.

    Raises NotFound.
    """
    endpoint = _locked(tenant_id, endpoint_id)
    _enable(endpoint, actor, now)
    return endpoint


@transaction.atomic
def disable(
    *,
    tenant_id: str,
    endpoint_id: str,
    reason: DisabledReason,
    actor: Actor,
    now: datetime,
) -> bool:
    """Switch an endpoint off: events are kept as skipped deliveries. Returns False if it was off
    already.

    Raises NotFound.
    """
    return _disable(_locked(tenant_id, endpoint_id), reason, actor, now)


@transaction.atomic
def remove(*, tenant_id: str, endpoint_id: str, actor: Actor, now: datetime) -> WebhookEndpoint:
    """Remove an endpoint for good and forget its secrets. Repeatable.

    Raises NotFound.
    """
    endpoint = _locked(tenant_id, endpoint_id, with_removed=True)
    if endpoint.status == EndpointStatus.REMOVED:
        return endpoint
    ENDPOINT_STATES.advance(
        endpoint,
        EndpointStatus.REMOVED,
        disabled_reason=DisabledReason.NONE,
        secret_token="",
        previous_secret_token="",
        previous_secret_expires_at=None,
        removed_at=now,
        updated_at=now,
    )
    deliveries.put_aside(endpoint_id=endpoint.pk, now=now)
    _audit(endpoint, "removed", actor, now)
    return endpoint


@transaction.atomic
def rotate_secret(
    *,
    tenant_id: str,
    endpoint_id: str,
    overlap: timedelta = OVERLAP_DEFAULT,
    secret: str | None = None,
    actor: Actor,
    now: datetime,
) -> WithSecret:
    """Give an endpoint a new secret. The old one also signs for `overlap` longer (0 to 7 days).
    `secret` is the new one, from `signing.new_secret`; a repeat with the one in force changes
    nothing.

    Only one older secret can sign beside the new one, and a second one would end the first before
    its time. So while there is one, SecretsOverlap is raised unless `overlap` is 0. Raises
    NotFound, InvalidSecretOverlap.
    """
    if not timedelta(0) <= overlap <= OVERLAP_MAX:
        raise InvalidSecretOverlap("The overlap must be 0 to 7 days.", field="overlapSeconds")
    endpoint = _locked(tenant_id, endpoint_id, with_secrets=True)
    if secret and secret == _secret_of(endpoint):
        return WithSecret(endpoint, secret)
    if overlap:
        _require_one_secret(endpoint, now)
    secret = secret or signing.new_secret()
    _write(
        endpoint,
        now=now,
        secret_token=crypto.encrypt(secret, context=endpoint.encryption_context),
        previous_secret_token=endpoint.secret_token if overlap else "",
        previous_secret_expires_at=now + overlap if overlap else None,
    )
    _audit(endpoint, "secret_rotated", actor, now, overlapSeconds=int(overlap.total_seconds()))
    return WithSecret(endpoint, secret)


def _require_one_secret(endpoint: WebhookEndpoint, now: datetime) -> None:
    """Raises SecretsOverlap while an older secret also signs."""
    until = endpoint.previous_secret_expires_at
    if until is not None and now < until:
        raise SecretsOverlap(
            f"The secret before this one signs until {clock.text_of(until)}.",
            previous_secret_expires_at=clock.text_of(until),
        )


def _is_removed(tenant_id: str, endpoint_id: str) -> bool:
    removed = WebhookEndpoint.objects.filter(status=EndpointStatus.REMOVED)
    return removed.filter(tenant_id=tenant_id, pk=endpoint_id).exists()


def _secret_of(endpoint: WebhookEndpoint) -> str:
    return crypto.decrypt(endpoint.secret_token, context=endpoint.encryption_context)


def check_events(events: Sequence[str]) -> None:
    """Raises InvalidWebhookEvents unless the names are known and different, or the star alone."""
    if list(events) == [names.EVERY_PAYMENT]:
        return
    if not events:
        raise InvalidWebhookEvents("Name at least one event.", field="events")
    if unknown := [name for name in events if name not in names.ALL]:
        raise InvalidWebhookEvents(f"Not an event: {unknown[0][:40]!r}.", field="events")
    if len(set(events)) != len(events):
        raise InvalidWebhookEvents("An event is listed twice.", field="events")


def _locked(
    tenant_id: str, endpoint_id: str, *, with_removed: bool = False, with_secrets: bool = False
) -> WebhookEndpoint:
    """Without its secrets, unless the caller needs them: not every login reads them."""
    known = WebhookEndpoint.objects.filter(tenant_id=tenant_id)
    if not with_secrets:
        known = undisclosed.of(known)
    if not with_removed:
        known = known.exclude(status=EndpointStatus.REMOVED)
    rows = known.select_for_update(no_key=True)
    endpoint = rows.filter(pk=endpoint_id).first() if ids.is_id(endpoint_id, "wh") else None
    if endpoint is None:
        raise NotFound("There is no such webhook endpoint.")
    return endpoint


def _write(endpoint: WebhookEndpoint, *, now: datetime, **changes: Any) -> None:
    for name, value in (changes | {"updated_at": now}).items():
        setattr(endpoint, name, value)
    endpoint.save(update_fields=[*changes, "updated_at"])


def _enable(endpoint: WebhookEndpoint, actor: Actor, now: datetime) -> None:
    if endpoint.status == EndpointStatus.ENABLED:
        return
    ENDPOINT_STATES.advance(
        endpoint,
        EndpointStatus.ENABLED,
        disabled_reason=DisabledReason.NONE,
        updated_at=now,
        **_HEALTHY,
    )
    _audit(endpoint, "enabled", actor, now)


def _disable(
    endpoint: WebhookEndpoint, reason: DisabledReason, actor: Actor, now: datetime
) -> bool:
    if endpoint.status != EndpointStatus.ENABLED:
        return False
    ENDPOINT_STATES.advance(
        endpoint, EndpointStatus.DISABLED, disabled_reason=reason, updated_at=now
    )
    deliveries.put_aside(endpoint_id=endpoint.pk, now=now)
    _audit(endpoint, "disabled", actor, now, reason=str(reason))
    return True


def _audit(
    endpoint: WebhookEndpoint, verb: str, actor: Actor, now: datetime, **details: object
) -> None:
    audit.record(
        tenant_id=endpoint.tenant_id,
        actor=actor,
        action=f"webhook.{verb}",
        subject_id=endpoint.pk,
        details={**details, "url": endpoint.url_without_query},
        now=now,
    )
