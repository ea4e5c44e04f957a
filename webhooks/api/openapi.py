"""The events that receivers get, described under `webhooks` of the OpenAPI document."""

from __future__ import annotations

from typing import Any

from webhooks import bodies, events
from webhooks.api import payment_events
from webhooks.api.described import Document, schema_of
from webhooks.bodies import Notice

_TEXT = {"type": "string"}

# A sentence about each notice, and an example of its data.
_NOTICES: dict[type[Notice], tuple[str, Document]] = {
    bodies.FundingSourceUpdated: (
        "A bank account changed its status",
        {
            "fundingSourceId": "fs_01kajq3a2b3c4d5e6f7g8h9j0k",
            "status": "errored",
            "lastReturnCode": "R02",
        },
    ),
    bodies.AutoFundingPaused: (
        "Auto-funding stopped by itself",
        {
            "reason": "waiting_after_failure",
            "pausedUntil": "2026-11-20T16:00:00.000000Z",
            "availableBalance": 15_000,
        },
    ),
    bodies.AutoFundingSkipped: (
        "Money was needed and not added",
        {
            "reason": "auto_funding_monthly_limit",
            "availableBalance": 15_000,
            "lowBalanceThreshold": 20_000,
            "fundingAmount": 50_000,
        },
    ),
    bodies.ConfirmationRequested: (
        "Somebody was asked to approve; names a funding transaction or a payment",
        {
            "confirmationId": "cnf_01kajq6a2b3c4d5e6f7g8h9j0k",
            "fundingTransactionId": "ftx_01kajq4j2k3m4n5p6q7r8s9t0v",
            "amount": 50_000,
            "expiresAt": "2026-11-23T15:00:00.000000Z",
        },
    ),
    bodies.BalanceLow: (
        "The balance fell below the threshold",
        {"availableBalance": 15_000, "pendingBalance": 0, "lowBalanceThreshold": 20_000},
    ),
}

_TEST_CALL = "What a test call sends, to any endpoint: it is not stored, and not in `GET /events`"

_EVENT: Document = {
    "type": "object",
    "required": ["id", "type", "data", "timestamp"],
    "properties": {
        "id": {**_TEXT, "description": "The same on every try; skip the ones you know."},
        "type": _TEXT,
        "data": {"type": "object"},
        "timestamp": {"type": "string", "format": "date-time"},
    },
}

HEADERS = {
    "X-Webhook-Signature": "64 hex digits: HMAC-SHA256 of the raw body, keyed with the secret.",
    "X-Webhook-Signature-Previous": "The same with the old secret, during a rotation only.",
    "X-Webhook-Attempt": "1 for the first try.",
    "webhook-id": "The event id.",
    "webhook-timestamp": "Seconds since 1970, of this try.",
    "webhook-signature": "Standard Webhooks: `v1,` and base64; several during a rotation.",
}


def describe_webhooks(result: Document, **_generator: Any) -> Document:
    """drf-spectacular's postprocessing hook."""
    result["webhooks"] = {}
    for name, move in payment_events.MOVES.items():
        shown = payment_events.examples(name)
        _describe(result, name, move.meaning, payment_events.data_schema(name), shown)
    for name, notice in bodies.NOTICES.items():
        meaning, example = _NOTICES[notice]
        _describe(result, name, meaning, schema_of(notice), {"notice": example})
    test = {"webhookId": "wh_01kajqaa2b3c4d5e6f7g8h9j0k"}
    _describe(result, events.TEST, _TEST_CALL, schema_of(bodies.PingData), {"testCall": test})
    return result


def _describe(
    result: Document, name: str, meaning: str, data: Document, shown: dict[str, Document]
) -> None:
    component = name.title().replace(".", "").replace("_", "") + "Event"
    properties = {**_EVENT["properties"], "type": {**_TEXT, "const": name}, "data": data}
    result["components"]["schemas"][component] = {**_EVENT, "properties": properties}
    result["webhooks"][name] = _delivery(name, meaning, component, shown)


def _delivery(name: str, meaning: str, component: str, shown: dict[str, Document]) -> Document:
    operation = {
        "summary": meaning,
        "operationId": f"receive_{name.replace('.', '_')}",
        "tags": ["events"],
        "parameters": [
            {"in": "header", "name": header, "schema": _TEXT, "description": text}
            for header, text in HEADERS.items()
        ],
        "requestBody": {
            "content": {
                "application/json": {
                    "schema": {"$ref": f"#/components/schemas/{component}"},
                    "examples": {
                        about: {"value": _example(name, data)} for about, data in shown.items()
                    },
                }
            }
        },
        "responses": {"2XX": {"description": "Received. Answer within 15 seconds."}},
    }
    return {"post": operation}


def _example(name: str, data: Document) -> Document:
    return {
        "id": "evt_01kajq4m5n6p7q8r9s0t1v2w3x",
        "type": name,
        "data": data,
        "timestamp": "2026-11-20T15:00:00.000000Z",
    }
