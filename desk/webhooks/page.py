"""What staff see of one webhook event, and of one delivery of it to an endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from common.database import undisclosed
from common.errors import NotFound
from common.ids import is_id
from dashboard.chain import titles
from dashboard.chain.coming import Coming
from dashboard.developers.webhooks.lines import (
    AttemptLine,
    Body,
    DeliveryLine,
    EventLine,
    attempt_line,
    body_of,
    delivery_line,
    event_line,
)
from dashboard.developers.webhooks.sentences import sentences
from dashboard.shell import stops
from webhooks import selectors
from webhooks.models import WebhookDelivery, WebhookEvent
from webhooks.states import DeliveryStatus

ATTEMPTS_SHOWN = 30
DELIVERIES_SHOWN = 50


@dataclass(frozen=True)
class DeliveryPage:
    """`earlier_id` is the delivery that this one waits for, mostly empty. `body` is None for who
    may not see events; `attempts` begin with the last."""

    row: WebhookDelivery
    title: str
    line: DeliveryLine
    stop: str
    earlier_id: str
    coming: list[Coming]
    attempts: list[AttemptLine]
    body: Body | None


@dataclass(frozen=True)
class EventPage:
    """An event, and what was sent of it: the first deliveries, and how many there are."""

    row: WebhookEvent
    title: str
    line: EventLine
    stop: str
    deliveries: list[tuple[DeliveryLine, WebhookDelivery]]
    deliveries_count: int
    body: Body


def delivery_page(
    delivery_id: str, *, with_event: bool, with_attempts: bool, now: datetime
) -> DeliveryPage:
    """Ten queries at most. `with_event` and `with_attempts`: the reader may see these.

    Raises NotFound.
    """
    row = found_delivery(delivery_id)
    stop = stops.of_webhooks(row.tenant_id)
    earlier = selectors.earlier_delivery(row) if row.is_parked else None
    said = sentences([row.event], tenant_id=row.tenant_id) if with_event else {}
    line = delivery_line(row, is_stopped=bool(stop), said=said)
    return DeliveryPage(
        row=row,
        title=_title(row, with_event=with_event, now=now),
        line=line,
        stop=stop if line.is_moving else "",
        earlier_id=earlier.pk if earlier else "",
        coming=list(_coming(row, is_stopped=bool(stop), now=now)),
        attempts=_attempts(row) if with_attempts else [],
        body=body_of(row.event) if with_event else None,
    )


def event_page(event_id: str, *, now: datetime) -> EventPage:
    """Ten queries at most. Raises NotFound."""
    rows = WebhookEvent.objects.filter(pk=event_id).select_related("tenant")
    row = is_id(event_id, "evt") and rows.first()
    if not row:
        raise NotFound("There is no such event. Events are kept for 30 days.")
    stop = stops.of_webhooks(row.tenant_id)
    said = sentences([row], tenant_id=row.tenant_id)
    sent = _deliveries().filter(event_id=row.pk).defer("event__body")
    found = list(sent.order_by("created_at", "pk")[:DELIVERIES_SHOWN])
    return EventPage(
        row=row,
        title=titles.of_event(row, now=now),
        line=event_line(row, said=said),
        stop=stop if any(each.status == DeliveryStatus.PENDING for each in found) else "",
        deliveries=[(delivery_line(each, is_stopped=bool(stop)), each) for each in found],
        deliveries_count=sent.count(),
        body=body_of(row),
    )


def found_delivery(delivery_id: str) -> WebhookDelivery:
    rows = _deliveries().filter(pk=delivery_id).select_related("tenant")
    row = is_id(delivery_id, "dlv") and rows.first()
    if not row:
        raise NotFound("There is no such delivery. Deliveries are kept for 30 days.")
    return row


def _deliveries() -> QuerySet[WebhookDelivery]:
    """All deliveries with their events and endpoints, also of removed ones, but without the
    secrets of endpoints, which the desk may not read."""
    return undisclosed.of(WebhookDelivery.objects.all()).select_related("event", "endpoint")


def _title(row: WebhookDelivery, *, with_event: bool, now: datetime) -> str:
    if with_event:
        return titles.of_delivery(row.event, row.endpoint.url, now=now)
    return titles.of_delivery_alone(row.event, row.endpoint.url)


def _attempts(row: WebhookDelivery) -> list[AttemptLine]:
    found = selectors.attempts(delivery_id=row.pk)[:ATTEMPTS_SHOWN]
    return [attempt_line(each, event_id=row.event_id) for each in found]


def _coming(row: WebhookDelivery, *, is_stopped: bool, now: datetime) -> Iterator[Coming]:
    """What happens next, with its moment where one is known; nothing once it is over."""
    if row.status != DeliveryStatus.PENDING:
        return
    if row.leased_until is not None and row.leased_until > now:
        yield Coming("The answer of the endpoint: it is being sent now")
    elif is_stopped:
        yield Coming("Sent once sending resumes")
    elif row.is_parked:
        yield Coming("Sent after the earlier event, or then", at=row.next_attempt_at)
    elif row.failures:
        yield Coming(f"Attempt {row.attempts + 1}", at=row.next_attempt_at)
    else:
        yield Coming("Sent within seconds")
