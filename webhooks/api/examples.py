"""Examples for the API reference, by component."""

from __future__ import annotations

from typing import Any

_ENDPOINT_ID = "wh_01kajqaa2b3c4d5e6f7g8h9j0k"
_EVENT_ID = "evt_01kajq4m5n6p7q8r9s0t1v2w3x"
_FUNDING_ID = "ftx_01kajq4j2k3m4n5p6q7r8s9t0v"
_MADE_AT = "2026-11-20T14:59:00.000000Z"

_ENDPOINT = {
    "id": _ENDPOINT_ID,
    "url": "https://hooks.example.com/ballast",
    "events": ["*"],
    "status": "enabled",
    "disabledReason": None,
    "description": "Bookkeeping",
    "consecutiveFailures": 0,
    "failingSince": None,
    "lastSuccessAt": "2026-11-20T15:00:00.214000Z",
    "previousSecretExpiresAt": None,
    "createdAt": _MADE_AT,
    "updatedAt": _MADE_AT,
}
_DELIVERY = {
    "id": "dlv_01kajq4n2p3q4r5s6t7v8w9x0y",
    "webhookId": _ENDPOINT_ID,
    "eventId": _EVENT_ID,
    "type": "payment.completed",
    "paymentId": _FUNDING_ID,
    "status": "delivered",
    "attempts": 2,
    "lastStatusCode": 200,
    "lastError": None,
    "nextAttemptAt": None,
    "deliveredAt": "2026-11-20T15:00:05.214000Z",
    "createdAt": "2026-11-20T15:00:00.000000Z",
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "WebhookRequest": {
        "everyPayment": {"url": "https://hooks.example.com/ballast", "events": ["*"]},
        "some": {
            "url": "https://hooks.example.com/ballast",
            "events": ["payment.completed", "payment.returned", "balance.low"],
            "description": "Bookkeeping",
        },
    },
    "PatchedWebhookChangesRequest": {
        "switchOff": {"status": "disabled"},
        "otherEvents": {"events": ["payment.failed", "payment.returned"]},
    },
    "NothingRequest": {"empty": {}},
    "RotateSecretRequest": {
        "oneDay": {"overlapSeconds": 86_400},
        "leaked": {"overlapSeconds": 0},
    },
    "ReplayRequest": {
        "whatFailed": {
            "from": "2026-11-20T00:00:00Z",
            "to": "2026-11-21T00:00:00Z",
            "onlyFailed": True,
        }
    },
    "Webhook": {"enabled": _ENDPOINT},
    "WebhookWithSecret": {
        "made": {**_ENDPOINT, "secret": "whsec_SHOWN-ONCE-32-BYTES-IN-BASE64-PLEASE-KEEP="}
    },
    "RemovedWebhook": {
        "removed": {
            "id": _ENDPOINT_ID,
            "status": "removed",
            "removedAt": "2026-12-01T09:00:00.000000Z",
        }
    },
    "WebhookTest": {
        "answered": {
            "eventId": _EVENT_ID,
            "success": True,
            "statusCode": 200,
            "error": None,
            "durationMs": 83,
            "response": "ok",
        }
    },
    "Replay": {"queued": {"queued": 12, "resumeFrom": None}},
    "WebhookDelivery": {"delivered": _DELIVERY},
    "WebhookDeliveryDetail": {
        "delivered": {
            **_DELIVERY,
            "attemptLog": [
                {
                    "number": 1,
                    "statusCode": 503,
                    "error": None,
                    "durationMs": 120,
                    "response": "busy",
                    "startedAt": "2026-11-20T15:00:00.000000Z",
                },
                {
                    "number": 2,
                    "statusCode": 200,
                    "error": None,
                    "durationMs": 83,
                    "response": "ok",
                    "startedAt": "2026-11-20T15:00:05.131000Z",
                },
            ],
        }
    },
    "Event": {
        "completed": {
            "id": _EVENT_ID,
            "type": "payment.completed",
            "data": {
                "paymentId": _FUNDING_ID,
                "amount": 25_000,
                "status": "completed",
                "currency": "USD",
                "direction": "in",
                "sequence": 3,
                "failureCode": None,
                "returnCode": None,
            },
            "timestamp": "2026-11-24T13:30:00.125000Z",
        }
    },
}
