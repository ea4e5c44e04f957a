"""What receivers get, described under `webhooks` of the OpenAPI document."""

from __future__ import annotations

from typing import Any

from webhooks import events

Document = dict[str, Any]

_MEANING = {
    "payment.created": "Payment created",
    "payment.processing": "Payment submitted for processing",
    "payment.completed": "Payment successful",
    "payment.failed": "Payment failed",
    "payment.returned": "Payment returned by the bank",
}
_TEXT = {"type": "string"}
_TEXT_OR_NULL = {"type": ["string", "null"]}

PAYMENT_EVENT: Document = {
    "type": "object",
    "required": ["id", "type", "data", "timestamp"],
    "properties": {
        "id": {**_TEXT, "description": "The same on every try; skip the ones you know."},
        "type": {"type": "string", "enum": list(events.PAYMENT_EVENTS)},
        "data": {
            "type": "object",
            "required": ["paymentId", "amount", "status"],
            "properties": {
                "paymentId": {**_TEXT, "description": "`ftx_…` or `pay_…`"},
                "amount": {"type": "integer", "description": "Cents."},
                "status": _TEXT,
                "currency": _TEXT,
                "direction": {"type": "string", "enum": ["in", "out"]},
                "sequence": {"type": "integer", "description": "Counts up per payment."},
                "failureCode": _TEXT_OR_NULL,
                "returnCode": _TEXT_OR_NULL,
            },
        },
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
    result["components"]["schemas"]["PaymentEvent"] = PAYMENT_EVENT
    result["webhooks"] = {name: {"post": _delivery(name)} for name in events.PAYMENT_EVENTS}
    return result


def _delivery(name: str) -> Document:
    return {
        "summary": _MEANING[name],
        "operationId": f"receive_{name.replace('.', '_')}",
        "tags": ["events"],
        "parameters": [
            {"in": "header", "name": header, "schema": _TEXT, "description": text}
            for header, text in HEADERS.items()
        ],
        "requestBody": {
            "content": {
                "application/json": {
                    "schema": {"$ref": "#/components/schemas/PaymentEvent"},
                    "example": _example(name),
                }
            }
        },
        "responses": {"2XX": {"description": "Received. Answer within 15 seconds."}},
    }


def _example(name: str) -> Document:
    is_returned = name == "payment.returned"
    return {
        "id": "evt_01kajq4m5n6p7q8r9s0t1v2w3x",
        "type": name,
        "data": {
            "paymentId": "ftx_01kajq4j2k3m4n5p6q7r8s9t0v",
            "amount": 25_000,
            "status": "failed" if is_returned else name.removeprefix("payment."),
            "currency": "USD",
            "direction": "in",
            "sequence": 3,
            "failureCode": "R01" if is_returned else None,
            "returnCode": "R01" if is_returned else None,
        },
        "timestamp": "2026-11-20T15:00:00.000000Z",
    }
