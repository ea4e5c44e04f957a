"""Examples for the reference, by component. Northwind tops up $250.00 and pays $120.00."""

from __future__ import annotations

from typing import Any

_CREDIT = {
    "id": "btx_01kajq7c2d3e4f5g6h7j8k9m0n",
    "type": "credit",
    "amount": 25_000,
    "currency": "USD",
    "availableDelta": 25_000,
    "lockedDelta": 0,
    "balanceAfter": {"availableBalance": 25_000, "lockedBalance": 0},
    "sourceType": "funding_transaction",
    "sourceId": "ftx_01kajq4j2k3m4n5p6q7r8s9t0v",
    "description": "Top-up by ACH debit",
    "createdAt": "2026-11-24T13:30:00.125000Z",
}
_LOCK = {
    **_CREDIT,
    "id": "btx_01kajq8e2f3g4h5j6k7m8n9p0q",
    "type": "lock",
    "amount": 12_000,
    "availableDelta": -12_000,
    "lockedDelta": 12_000,
    "balanceAfter": {"availableBalance": 13_000, "lockedBalance": 12_000},
    "sourceType": "payment",
    "sourceId": "pay_01kajq8d2e3f4g5h6j7k8m9n0p",
    "description": "Payment to Supplier Inc",
    "createdAt": "2026-11-24T15:02:11.480131Z",
}


def _rolling(scope: str, window: str, most: int, used: int | None) -> dict[str, Any]:
    left = None if used is None else most - used
    count = None if used is None else 1
    return {
        "scope": scope,
        "window": window,
        "amount": {"limit": most, "used": used, "remaining": left},
        "payments": {"limit": None, "used": count, "remaining": None},
        "freesAt": None if used is None else "2026-11-25T16:00:00.000000Z",
    }


_ROLLING = [
    _rolling("tenant", "day", 100_000_000, 12_000),
    _rolling("recipient", "day", 25_000_000, None),
]

EXAMPLES: dict[str, dict[str, Any]] = {
    "Limits": {
        "default": {
            "currency": "USD",
            "perTransaction": {"ach_debit": 100_000_000, "rtp": 1_000_000_000},
            "daily": {
                "limit": 500_000_000,
                "used": 25_000,
                "remaining": 499_975_000,
                "resetsAt": "2026-11-21T05:00:00.000000Z",
            },
            "monthly": {
                "limit": None,
                "used": 25_000,
                "remaining": None,
                "resetsAt": "2026-12-01T05:00:00.000000Z",
            },
            "payments": {
                "perTransaction": {
                    "ach_credit": 100_000_000,
                    "rtp": 1_000_000_000,
                    "auto": 1_000_000_000,
                },
                "approvalThreshold": 1_000_000,
                "rolling": _ROLLING,
            },
        }
    },
    "BalanceSummary": {
        "funded": {
            "availableBalance": 13_000,
            "pendingBalance": 50_000,
            "lockedBalance": 12_000,
            "currency": "USD",
        },
        "afterAReturn": {
            "availableBalance": -7_500,
            "pendingBalance": 0,
            "lockedBalance": 0,
            "currency": "USD",
        },
    },
    "BalanceTransaction": {"lock": _LOCK, "credit": _CREDIT},
}
PROBLEM_MEMBERS: dict[str, dict[str, Any]] = {
    "insufficient_balance": {
        "detail": "$120.00 is $20.00 more than is available.",
        "availableBalance": 10_000,
        "shortfall": 2_000,
    },
    "invalid_request": {
        "detail": "Check: amount.",
        "errors": [
            {
                "field": "amount",
                "code": "min_value",
                "message": "Send at least 1 (cents).",
            }
        ],
    },
    "unknown_field": {
        "detail": "Unknown fields were sent.",
        "errors": [
            {
                "field": "ammount",
                "code": "unknown_field",
                "message": "This field is not known. Fields here: amount, fundingSourceId.",
            }
        ],
    },
    "insufficient_scope": {
        "detail": "This needs funding:write.",
        "requiredScope": "funding:write",
    },
}
