"""Deliveries that somebody asks for again, and those that nobody waits for any more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from common.database_clock import judged
from webhooks import selectors, wake
from webhooks.models import WebhookDelivery
from webhooks.states import DELIVERY_STATES, DeliveryStatus, EndpointStatus

_PUT_ASIDE_MAX = 10_000

_OFF = Q(endpoint__status=EndpointStatus.DISABLED)
_REMOVED = Q(endpoint__status=EndpointStatus.REMOVED)
_ASKED_FOR = Q(is_manual=True, failures=0)


@transaction.atomic
def resend(*, tenant_id: str, delivery_id: str, now: datetime) -> WebhookDelivery:
    """Send a delivery again: the same bytes, whatever became of it, even to an endpoint that is
    off. One that waits for its next try goes now. Failures do not count against the endpoint.

    Raises NotFound.
    """
    found = selectors.delivery(tenant_id=tenant_id, delivery_id=delivery_id)
    rows = WebhookDelivery.objects.select_for_update(of=("self",), no_key=True)
    delivery = rows.select_related("event").get(pk=found.pk)
    if delivery.status != DeliveryStatus.PENDING:
        DELIVERY_STATES.advance(
            delivery, DeliveryStatus.PENDING, is_manual=True, **fresh_start(now)
        )
    elif delivery.leased_until is None or delivery.leased_until <= now:
        _bring_forward(delivery, now)
    transaction.on_commit(wake.dispatchers, robust=True)
    return delivery


def fresh_start(now: datetime) -> dict[str, Any]:
    """The columns of a delivery that starts over: all tries of the schedule are ahead of it."""
    return {
        "next_attempt_at": now,
        "queued_at": now,
        "is_parked": False,
        "failures": 0,
        "delivered_at": None,
    }


@judged
@transaction.atomic
def put_aside(*, now: datetime, endpoint_id: str | None = None) -> int:
    """Take what is pending for endpoints that are off (`skipped`) or removed (`canceled`) out of
    the queue; returns how many. What is being sent right now is left alone, and so is what
    somebody asked for while the endpoint was off.
    """
    idle = Q(leased_until=None) | Q(leased_until__lte=now)
    pending = WebhookDelivery.objects.filter(idle, status=DeliveryStatus.PENDING)
    if endpoint_id is not None:
        pending = pending.filter(endpoint_id=endpoint_id)
    skipped = _finish(pending.filter(_OFF).exclude(_ASKED_FOR), DeliveryStatus.SKIPPED)
    return skipped + _finish(pending.filter(_REMOVED), DeliveryStatus.CANCELED)


def _bring_forward(delivery: WebhookDelivery, now: datetime) -> None:
    changes = {**fresh_start(now), "is_manual": True, "leased_until": None}
    for name, value in changes.items():
        setattr(delivery, name, value)
    delivery.save(update_fields=list(changes))


def _finish(rows: QuerySet[WebhookDelivery], status: DeliveryStatus) -> int:
    """Skips rows that a dispatcher holds: the next sweep gets them."""
    held = rows.select_for_update(of=("self",), no_key=True, skip_locked=True)
    ids: Sequence[str] = list(held.values_list("pk", flat=True)[:_PUT_ASIDE_MAX])
    return WebhookDelivery.objects.filter(pk__in=ids).update(
        status=status, next_attempt_at=None, leased_until=None, is_parked=False
    )
