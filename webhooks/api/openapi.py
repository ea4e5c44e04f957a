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

_CENTS = {"type": "integer", "description": "Cents."}
_MOMENT_OR_NULL = {"type": ["string", "null"], "format": "date-time"}

# What each notice is about: a sentence, the members of its data, an example of them.
_NOTICES: dict[str, tuple[str, Document, Document]] = {
    "funding_source.updated": (
        "A bank account changed its status",
        {"fundingSourceId": _TEXT, "status": _TEXT, "lastReturnCode": _TEXT_OR_NULL},
        {
            "fundingSourceId": "fs_01kajq3a2b3c4d5e6f7g8h9j0k",
            "status": "errored",
            "lastReturnCode": "R02",
        },
    ),
    "auto_funding.paused": (
        "Auto-funding stopped by itself",
        {"reason": _TEXT, "pausedUntil": _MOMENT_OR_NULL, "availableBalance": _CENTS},
        {
            "reason": "waiting_after_failure",
            "pausedUntil": "2026-11-20T16:00:00.000000Z",
            "availableBalance": 15_000,
        },
    ),
    "auto_funding.skipped": (
        "Money was needed and not added",
        {
            "reason": _TEXT,
            "availableBalance": _CENTS,
            "lowBalanceThreshold": _CENTS,
            "fundingAmount": _CENTS,
        },
        {
            "reason": "monthly_limit",
            "availableBalance": 15_000,
            "lowBalanceThreshold": 20_000,
            "fundingAmount": 50_000,
        },
    ),
    "confirmation.requested": (
        "Somebody was asked to approve; names a funding transaction or a payment",
        {
            "confirmationId": _TEXT,
            "amount": _CENTS,
            "expiresAt": {"type": "string", "format": "date-time"},
        },
        {
            "confirmationId": "cnf_01kajq6a2b3c4d5e6f7g8h9j0k",
            "fundingTransactionId": "ftx_01kajq4j2k3m4n5p6q7r8s9t0v",
            "amount": 50_000,
            "expiresAt": "2026-11-23T15:00:00.000000Z",
        },
    ),
    "balance.low": (
        "The balance fell below the threshold",
        {"availableBalance": _CENTS, "pendingBalance": _CENTS, "lowBalanceThreshold": _CENTS},
        {"availableBalance": 15_000, "pendingBalance": 0, "lowBalanceThreshold": 20_000},
    ),
}

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
    schemas = result["components"]["schemas"]
    schemas["PaymentEvent"] = PAYMENT_EVENT
    result["webhooks"] = {
        name: _delivery(name, _MEANING[name], "PaymentEvent", _payment_data(name))
        for name in events.PAYMENT_EVENTS
    }
    for name, (meaning, members, data) in _NOTICES.items():
        component = name.title().replace(".", "").replace("_", "") + "Event"
        schemas[component] = _notice_schema(name, members)
        result["webhooks"][name] = _delivery(name, meaning, component, data)
    return result


def _notice_schema(name: str, members: Document) -> Document:
    data = {"type": "object", "required": list(members), "properties": members}
    properties = {**PAYMENT_EVENT["properties"], "type": {"type": "string", "const": name}}
    return {**PAYMENT_EVENT, "properties": {**properties, "data": data}}


def _delivery(name: str, meaning: str, component: str, data: Document) -> Document:
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
                    "example": _example(name, data),
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


def _payment_data(name: str) -> Document:
    is_returned = name == "payment.returned"
    return {
        "paymentId": "ftx_01kajq4j2k3m4n5p6q7r8s9t0v",
        "amount": 25_000,
        "status": "failed" if is_returned else name.removeprefix("payment."),
        "currency": "USD",
        "direction": "in",
        "sequence": 3,
        "failureCode": "R01" if is_returned else None,
        "returnCode": "R01" if is_returned else None,
    }
