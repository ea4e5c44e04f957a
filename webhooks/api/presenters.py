"""What a client sees of webhooks: camelCase, UTC. Secrets only where one was just made."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from common.clock import text_of
from webhooks.dispatcher.results import text_of as response_text
from webhooks.models import WebhookAttempt, WebhookDelivery, WebhookEndpoint, WebhookEvent
from webhooks.services.endpoints import WithSecret
from webhooks.services.pings import Ping
from webhooks.services.replays import Replayed


def endpoint(row: WebhookEndpoint) -> dict[str, Any]:
    return {
        "id": row.pk,
        "url": row.url,
        "events": row.events,
        "status": str(row.status),
        "disabledReason": str(row.disabled_reason) or None,
        "description": row.description or None,
        "consecutiveFailures": row.consecutive_failures,
        "failingSince": _instant(row.first_failure_at),
        "lastSuccessAt": _instant(row.last_success_at),
        "previousSecretExpiresAt": _instant(row.previous_secret_expires_at),
        "createdAt": _instant(row.created_at),
        "updatedAt": _instant(row.updated_at),
    }


def endpoint_with_secret(made: WithSecret) -> dict[str, Any]:
    return {**endpoint(made.endpoint), "secret": made.secret}


def removal(row: WebhookEndpoint) -> dict[str, Any]:
    return {"id": row.pk, "status": str(row.status), "removedAt": _instant(row.removed_at)}


def ping(made: Ping) -> dict[str, Any]:
    return {
        "eventId": made.event_id,
        "success": made.answer.is_success,
        "statusCode": made.answer.status,
        "error": made.answer.failure and str(made.answer.failure),
        "durationMs": made.answer.duration_ms,
        "response": response_text(made.answer.body),
    }


def replay(made: Replayed) -> dict[str, Any]:
    return {"queued": made.queued, "resumeFrom": _instant(made.resume_from)}


def delivery(row: WebhookDelivery) -> dict[str, Any]:
    is_waiting = row.leased_until is None
    return {
        "id": row.pk,
        "webhookId": row.endpoint_id,
        "eventId": row.event_id,
        "type": row.event.type,
        "paymentId": row.payment_id or None,
        "status": str(row.status),
        "attempts": row.attempts,
        "lastStatusCode": row.last_status_code,
        "lastError": row.last_error or None,
        "nextAttemptAt": _instant(row.next_attempt_at) if is_waiting else None,
        "deliveredAt": _instant(row.delivered_at),
        "createdAt": _instant(row.created_at),
    }


def delivery_with_attempts(
    row: WebhookDelivery, attempts: Iterable[WebhookAttempt]
) -> dict[str, Any]:
    return {**delivery(row), "attemptLog": [_attempt(item) for item in attempts]}


def event(row: WebhookEvent) -> dict[str, Any]:
    """The payload, exactly as receivers get it."""
    payload: dict[str, Any] = json.loads(bytes(row.body))
    return payload


def _attempt(row: WebhookAttempt) -> dict[str, Any]:
    return {
        "number": row.number,
        "statusCode": row.status_code,
        "error": row.error or None,
        "durationMs": row.duration_ms,
        "response": row.response,
        "startedAt": _instant(row.started_at),
    }


def _instant(moment: datetime | None) -> str | None:
    return text_of(moment) if moment else None
