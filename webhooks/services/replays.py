"""Sends a window of past events to one endpoint again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, FilteredRelation, Q, QuerySet

from tenants.actors import Actor
from tenants.services import audit
from webhooks import selectors, wake
from webhooks.errors import InvalidReplayWindow, WebhookDisabled
from webhooks.events import EVERY_PAYMENT, PAYMENT_EVENTS
from webhooks.models import WebhookDelivery, WebhookEndpoint, WebhookEvent
from webhooks.services.deliveries import fresh_start
from webhooks.services.retention import KEPT_FOR
from webhooks.states import DeliveryStatus, EndpointStatus

EVENTS_MAX = 10_000
_BATCH = 1_000
_NOT_DELIVERED = (DeliveryStatus.FAILED, DeliveryStatus.SKIPPED)


@dataclass(frozen=True)
class Replayed:
    """`resume_from` says where to go on, if the window held more than one call may queue."""

    queued: int
    resume_from: datetime | None


@transaction.atomic
def replay(
    *,
    tenant_id: str,
    endpoint_id: str,
    start: datetime,
    end: datetime,
    only_failed: bool,
    actor: Actor,
    now: datetime,
) -> Replayed:
    """Queue the events from `start` up to `end` for one endpoint, in their order.

    With `only_failed`, those that were given up or skipped; otherwise also what was delivered, and
    events from before the endpoint existed. At most 10,000 per call. Raises NotFound,
    InvalidReplayWindow, WebhookDisabled.
    """
    endpoint = _replayable(tenant_id, endpoint_id, start, end, now)
    found = list(_in_window(endpoint, start, end, only_failed=only_failed)[: EVENTS_MAX + 1])
    chosen, rest = found[:EVENTS_MAX], found[EVENTS_MAX:]
    queued = _queue_again((row["delivery_id"] for row in chosen if row["delivery_id"]), now)
    queued += _queue_first((row for row in chosen if not row["delivery_id"]), endpoint, now)
    audit.record(
        tenant_id=tenant_id,
        actor=actor,
        action="webhook.replayed",
        subject_id=endpoint_id,
        details={"from": start.isoformat(), "to": end.isoformat(), "queued": queued},
        now=now,
    )
    transaction.on_commit(wake.dispatchers, robust=True)
    return Replayed(queued=queued, resume_from=rest[0]["created_at"] if rest else None)


def count(
    *,
    tenant_id: str,
    endpoint_id: str,
    start: datetime,
    end: datetime,
    only_failed: bool,
    now: datetime,
) -> int:
    """How many events `replay` would queue now. If they are too many, one more than `replay` may
    queue.

    Raises what `replay` does.
    """
    endpoint = _replayable(tenant_id, endpoint_id, start, end, now)
    return _in_window(endpoint, start, end, only_failed=only_failed)[: EVENTS_MAX + 1].count()


def _replayable(
    tenant_id: str, endpoint_id: str, start: datetime, end: datetime, now: datetime
) -> WebhookEndpoint:
    if not now - KEPT_FOR <= start < end:
        raise InvalidReplayWindow("The window must lie within the last 30 days.", field="from")
    endpoint = selectors.endpoint(tenant_id=tenant_id, endpoint_id=endpoint_id)
    if endpoint.status != EndpointStatus.ENABLED:
        raise WebhookDisabled("Nothing is sent to an endpoint that is off.")
    return endpoint


def _in_window(
    endpoint: WebhookEndpoint, start: datetime, end: datetime, *, only_failed: bool
) -> QuerySet[Any, Any]:
    types = PAYMENT_EVENTS if endpoint.events == [EVERY_PAYMENT] else endpoint.events
    wanted = Q(here__status__in=_NOT_DELIVERED)
    if not only_failed:
        wanted |= Q(here=None) | Q(here__status=DeliveryStatus.DELIVERED)
    return (
        WebhookEvent.objects.filter(
            tenant_id=endpoint.tenant_id,
            created_at__gte=start,
            created_at__lt=end,
            type__in=types,
        )
        .annotate(here=FilteredRelation("deliveries", condition=Q(deliveries__endpoint=endpoint)))
        .filter(wanted)
        .order_by("created_at", "pk")
        .values("pk", "payment_id", "sequence", "created_at", delivery_id=F("here__pk"))
    )


def _queue_again(delivery_ids: Iterable[str], now: datetime) -> int:
    rows = WebhookDelivery.objects.filter(
        pk__in=list(delivery_ids), status__in=(*_NOT_DELIVERED, DeliveryStatus.DELIVERED)
    )
    return rows.update(status=DeliveryStatus.PENDING, is_manual=False, **fresh_start(now))


def _queue_first(events: Iterable[dict[str, Any]], endpoint: WebhookEndpoint, now: datetime) -> int:
    rows = [
        WebhookDelivery(
            tenant_id=endpoint.tenant_id,
            endpoint=endpoint,
            event_id=event["pk"],
            payment_id=event["payment_id"],
            sequence=event["sequence"],
            status=DeliveryStatus.PENDING,
            created_at=now,
            **fresh_start(now),
        )
        for event in events
    ]
    WebhookDelivery.objects.bulk_create(rows, batch_size=_BATCH, ignore_conflicts=True)
    return len(rows)
