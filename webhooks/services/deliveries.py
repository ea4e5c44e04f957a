"""Deliveries that somebody asks for again, and those that nobody needs any more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Least

from common.database import undisclosed
from common.database_clock import judged
from tenants.actors import Actor
from tenants.services import audit
from webhooks import selectors, wake
from webhooks.models import WebhookDelivery
from webhooks.states import DELIVERY_STATES, DeliveryStatus, EndpointStatus

_PUT_ASIDE_MAX = 10_000

_OFF = Q(endpoint__status=EndpointStatus.DISABLED)
_REMOVED = Q(endpoint__status=EndpointStatus.REMOVED)
_ASKED_FOR = Q(is_manual=True, failures=0)


@transaction.atomic
def resend(*, tenant_id: str, delivery_id: str, actor: Actor, now: datetime) -> WebhookDelivery:
    """Send a delivery again with the same bytes, whatever became of it, even to an endpoint that is
    off. One that waits for its next try is sent now. Failures do not count against the endpoint.
    While webhooks are stopped it waits, and is sent when they go on.

    Raises NotFound.
    """
    found = selectors.delivery(tenant_id=tenant_id, delivery_id=delivery_id)
    rows = WebhookDelivery.objects.select_for_update(of=("self",), no_key=True)
    delivery = undisclosed.of(rows.select_related("event")).get(pk=found.pk)
    if delivery.status != DeliveryStatus.PENDING:
        DELIVERY_STATES.advance(
            delivery, DeliveryStatus.PENDING, is_manual=True, **fresh_start(now)
        )
    elif delivery.leased_until is None or delivery.leased_until <= now:
        _bring_forward(delivery, now)
    audit.record(
        tenant_id=tenant_id,
        actor=actor,
        action="webhook.resent",
        subject_id=delivery.pk,
        details={"event": delivery.event.type, "url": delivery.endpoint.url_without_query},
        now=now,
    )
    transaction.on_commit(wake.dispatchers, robust=True)
    return delivery


def fresh_start(now: datetime) -> dict[str, Any]:
    """The columns of a delivery that starts over, with all tries of the schedule ahead of it."""
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
    """End the pending deliveries of endpoints that are off (`skipped`) or removed (`canceled`);
    returns how many. What is being sent now is left alone, and so is what somebody asked to send
    while the endpoint was off."""
    idle = Q(leased_until=None) | Q(leased_until__lte=now)
    pending = WebhookDelivery.objects.filter(idle, status=DeliveryStatus.PENDING)
    if endpoint_id is not None:
        pending = pending.filter(endpoint_id=endpoint_id)
    skipped = _finish(pending.filter(_OFF).exclude(_ASKED_FOR), DeliveryStatus.SKIPPED, now)
    return skipped + _finish(pending.filter(_REMOVED), DeliveryStatus.CANCELED, now)


def _bring_forward(delivery: WebhookDelivery, now: datetime) -> None:
    changes = {**fresh_start(now), "is_manual": True, "leased_until": None}
    for name, value in changes.items():
        setattr(delivery, name, value)
    delivery.save(update_fields=list(changes))


def _finish(rows: QuerySet[WebhookDelivery], status: DeliveryStatus, now: datetime) -> int:
    """Give these deliveries their last status. Rows that a dispatcher holds are left to the next
    sweep."""
    held = rows.select_for_update(of=("self",), no_key=True, skip_locked=True)
    ids: Sequence[str] = list(held.values_list("pk", flat=True)[:_PUT_ASIDE_MAX])
    if not ids:
        return 0
    ended = WebhookDelivery.objects.filter(pk__in=ids)
    count = ended.update(status=status, next_attempt_at=None, leased_until=None, is_parked=False)
    _let_go_behind(ended, now)
    return count


def _let_go_behind(ended: QuerySet[WebhookDelivery], now: datetime) -> None:
    """Make due what was parked behind deliveries that are over, and is still pending itself.

    Rows that somebody else has locked are skipped: they will be sent, ended or freed there. To wait
    for them could be a deadlock, because the other side may wait for rows that we hold.
    """
    behind = Exists(
        ended.filter(
            endpoint=OuterRef("endpoint"),
            payment_id=OuterRef("payment_id"),
            sequence__lt=OuterRef("sequence"),
        )
    )
    parked = WebhookDelivery.objects.filter(
        behind, status=DeliveryStatus.PENDING, is_parked=True, leased_until=None
    ).exclude(payment_id="")
    held = parked.select_for_update(of=("self",), no_key=True, skip_locked=True)
    WebhookDelivery.objects.filter(pk__in=list(held.values_list("pk", flat=True))).update(
        is_parked=False, next_attempt_at=Least("next_attempt_at", Value(now))
    )
