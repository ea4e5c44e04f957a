"""Webhook endpoints, deliveries and events as people see them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from types import MappingProxyType

from common.engine.http.client import Failure
from dashboard.developers.durations import duration_in_words
from dashboard.developers.webhooks.health_bar import HealthBar, health_bar
from dashboard.shell import stops
from dashboard.shell.badges import Badge
from webhooks import events
from webhooks.delivery_health import Health
from webhooks.dispatcher.sender import USER_AGENT
from webhooks.models import (
    DisabledReason,
    WebhookAttempt,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
)
from webhooks.states import DeliveryStatus, EndpointStatus

NOTHING_SAID: Mapping[str, str] = MappingProxyType({})
_TROUBLES = {
    DisabledReason.NONE: "",
    DisabledReason.TENANT: "Switched off by the team",
    DisabledReason.STAFF: "Switched off by our support",
    DisabledReason.GONE: "It answered 410 Gone",
    DisabledReason.FAILING: "Five days without a success",
}
_DELIVERY_BADGES = {
    DeliveryStatus.PENDING: Badge("On the way", "info"),
    DeliveryStatus.DELIVERED: Badge("Delivered", "good"),
    DeliveryStatus.FAILED: Badge("Failed", "bad"),
    DeliveryStatus.SKIPPED: Badge("Skipped", "warn"),
    DeliveryStatus.CANCELED: Badge("Canceled"),
}
_RETRYING = Badge("Retrying", "warn")
DELIVERY_LABELS = [(status.value, badge.label) for status, badge in _DELIVERY_BADGES.items()]

_PAYMENT_VIEWS = {"ftx": "dashboard:funding_detail", "pay": "dashboard:payment_detail"}

_FAILURES = {
    Failure.URL_NOT_ALLOWED: "The URL is no longer allowed",
    Failure.ADDRESS_NOT_ALLOWED: "The name leads to an address that is not public",
    Failure.NAME_NOT_RESOLVED: "The name was not found in DNS",
    Failure.CONNECTION_FAILED: "The server did not accept the connection",
    Failure.TLS_FAILED: "The TLS certificate was not accepted",
    Failure.TIMEOUT: "No answer within 15 seconds",
    Failure.DISCONNECTED: "The connection was closed before an answer came",
    Failure.INVALID_RESPONSE: "The answer was not HTTP",
    Failure.INTERNAL_ERROR: "We could not send it and will try again",
}


@dataclass(frozen=True)
class EndpointLine:
    """One endpoint; `trouble` says in words what is wrong with it, if anything."""

    id: str
    url: str
    description: str
    events: str
    badge: Badge
    trouble: str
    is_on: bool
    health: HealthBar
    last_success_at: datetime | None
    failing_since: datetime | None
    old_secret_until: datetime | None
    created_at: datetime


def endpoint_line(row: WebhookEndpoint, health: Health, *, now: datetime) -> EndpointLine:
    overlap = row.previous_secret_expires_at
    return EndpointLine(
        id=row.pk,
        url=row.url,
        description=row.description,
        events="All payment events" if row.events == ["*"] else ", ".join(row.events),
        badge=_endpoint_badge(row),
        trouble=_TROUBLES[DisabledReason(row.disabled_reason)],
        is_on=row.status == EndpointStatus.ENABLED,
        health=health_bar(health),
        last_success_at=row.last_success_at,
        failing_since=row.first_failure_at,
        old_secret_until=overlap if overlap and overlap > now else None,
        created_at=row.created_at,
    )


def _endpoint_badge(row: WebhookEndpoint) -> Badge:
    if row.status != EndpointStatus.ENABLED:
        return Badge("Off", "bad")
    return Badge("Failing", "warn") if row.consecutive_failures else Badge("Healthy", "good")


@dataclass(frozen=True)
class DeliveryLine:
    """One event for one endpoint, and how far it got; `meaning` says the event in words."""

    id: str
    event_id: str
    endpoint_id: str
    type: str
    meaning: str
    payment_id: str
    badge: Badge
    answer: str
    attempts: int
    next_attempt_at: datetime | None
    is_parked: bool
    delivered_at: datetime | None
    at: datetime
    is_moving: bool
    may_resend: bool
    unsent_why: str

    @property
    def payment_view(self) -> str:
        return _payment_view(self.payment_id)


_UNSENT = {
    DeliveryStatus.SKIPPED: (
        "The endpoint was off when this happened, so we did not send it. Resend it once the"
        " endpoint is on."
    ),
    DeliveryStatus.CANCELED: "The endpoint was removed before we could send it.",
}


def delivery_line(
    row: WebhookDelivery, *, is_stopped: bool = False, said: Mapping[str, str] = NOTHING_SAID
) -> DeliveryLine:
    """`row` with its event. `is_stopped`: operators have stopped sending this tenant's webhooks.
    `said`: what events say, by their ids (`sentences`)."""
    status = DeliveryStatus(row.status)
    is_sent_next = row.leased_until is None and not is_stopped
    is_shown = is_sent_next and bool(row.failures or row.is_parked)
    return DeliveryLine(
        id=row.pk,
        event_id=row.event_id,
        endpoint_id=row.endpoint_id,
        type=row.event.type,
        meaning=_meaning(row.event, said),
        payment_id=row.payment_id,
        badge=_delivery_badge(row, is_stopped=is_stopped),
        answer=answer_in_words(row.last_status_code, row.last_error),
        attempts=row.attempts,
        next_attempt_at=row.next_attempt_at if is_shown else None,
        is_parked=row.is_parked,
        delivered_at=row.delivered_at,
        at=row.created_at,
        is_moving=status == DeliveryStatus.PENDING,
        may_resend=status != DeliveryStatus.CANCELED,
        unsent_why=_UNSENT.get(status, ""),
    )


def _delivery_badge(row: WebhookDelivery, *, is_stopped: bool) -> Badge:
    status = DeliveryStatus(row.status)
    if status != DeliveryStatus.PENDING:
        return _DELIVERY_BADGES[status]
    if is_stopped and row.leased_until is None:
        return stops.BADGE
    return _RETRYING if row.failures else _DELIVERY_BADGES[status]


@dataclass(frozen=True)
class AttemptLine:
    """One HTTP request and what came back."""

    number: int
    at: datetime
    duration: str
    answer: str
    badge: Badge
    request_headers: list[tuple[str, str]]
    headers: list[tuple[str, str]]
    body: str


def attempt_line(row: WebhookAttempt, *, event_id: str) -> AttemptLine:
    is_success = row.status_code is not None and 200 <= row.status_code < 300
    return AttemptLine(
        number=row.number,
        at=row.started_at,
        duration=duration_in_words(row.duration_ms * 1000),
        answer=answer_in_words(row.status_code, row.error),
        badge=Badge("Succeeded", "good") if is_success else Badge("Failed", "bad"),
        request_headers=_request_headers(row, event_id),
        headers=[(name, value) for name, value in row.response_headers],
        body=row.response,
    )


def _request_headers(row: WebhookAttempt, event_id: str) -> list[tuple[str, str]]:
    """What was sent. The signatures depend on a secret and are not kept."""
    return [
        ("Content-Type", "application/json"),
        ("User-Agent", USER_AGENT),
        ("X-Webhook-Attempt", str(row.number)),
        ("webhook-id", event_id),
        ("webhook-timestamp", str(int(row.started_at.timestamp()))),
        ("webhook-signature", "v1,… (not kept)"),
        ("X-Webhook-Signature", "… (not kept)"),
    ]


def answer_in_words(status: int | None, error: str) -> str:
    """`200 OK`, or why there was no answer; empty before the first try."""
    if status is not None:
        return f"{status} {_phrase(status)}".strip()
    return _FAILURES[Failure(error)] if error in set(Failure) else error


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


@dataclass(frozen=True)
class EventLine:
    """Something that happened; `meaning` says it in words."""

    id: str
    type: str
    meaning: str
    payment_id: str
    at: datetime

    @property
    def payment_view(self) -> str:
        return _payment_view(self.payment_id)


def event_line(row: WebhookEvent, *, said: Mapping[str, str] = NOTHING_SAID) -> EventLine:
    """`said`: what events say, by their ids (`sentences`); the meaning of its type is the rest."""
    return EventLine(
        id=row.pk,
        type=row.type,
        meaning=_meaning(row, said),
        payment_id=row.payment_id,
        at=row.created_at,
    )


def _meaning(row: WebhookEvent, said: Mapping[str, str]) -> str:
    return said.get(row.pk) or events.MEANINGS.get(row.type, "")


def _payment_view(payment_id: str) -> str:
    """The URL name of the page about this money; empty for what has none."""
    return _PAYMENT_VIEWS.get(payment_id.partition("_")[0], "")


@dataclass(frozen=True)
class Body:
    """The bytes every receiver got, and the same indented."""

    sent: str
    readable: str


def body_of(row: WebhookEvent) -> Body:
    sent = bytes(row.body).decode("ascii")
    return Body(sent=sent, readable=json.dumps(json.loads(sent), indent=2, ensure_ascii=False))


def event_choices() -> Sequence[tuple[str, str]]:
    return [(name, name) for name in events.ALL]
