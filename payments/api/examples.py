"""Examples for the API reference, by component. Northwind pays a supplier $120.00."""

from __future__ import annotations

from typing import Any

_RECIPIENT_ID = "rcp_01kajq8a2b3c4d5e6f7g8h9j0k"
_MADE_AT = "2026-11-24T15:02:11.480131Z"
_SENT_AT = "2026-11-24T15:02:14.120400Z"
_ACCOUNT = {
    "bankName": "JPMorgan Chase Bank",
    "last4": "4455",
    "routingNumber": "021000021",
    "accountHolderName": "Supplier Inc",
    "accountHolderType": "business",
    "accountType": "checking",
}
_ACCOUNT_IN = {
    "accountNumber": "1122334455",
    "routingNumber": "021000021",
    "accountHolderName": "Supplier Inc",
    "accountHolderType": "business",
    "accountType": "checking",
}
_NEVER = {
    "waitingForFundsAt": None,
    "createdAt": None,
    "processingAt": None,
    "completedAt": None,
    "failedAt": None,
    "returnedAt": None,
    "canceledAt": None,
}
_CREATED = {
    "id": "pay_01kajq8d2e3f4g5h6j7k8m9n0p",
    "amount": 12_000,
    "currency": "USD",
    "status": "created",
    "method": "ach_credit",
    "methodUsed": "ach_credit",
    "network": None,
    "attempts": [],
    "speed": "standard",
    "recipient": _ACCOUNT,
    "recipientId": _RECIPIENT_ID,
    "createdBy": {"type": "api_key", "id": "key_01kajq2a2b3c4d5e6f7g8h9j0k"},
    "description": "Invoice 2031",
    "metadata": {},
    "waitForFunds": False,
    "waitsUntil": None,
    "onHold": False,
    "heldBackAt": None,
    "requiresConfirmation": False,
    "confirmationExpiresAt": None,
    "approval": None,
    "confirmedAt": None,
    "expectedArrivalDate": "2026-11-25",
    "statusTimestamps": {**_NEVER, "createdAt": _MADE_AT},
    "failureCode": None,
    "failureMessage": None,
    "returned": False,
    "returnCode": None,
    "returnReason": None,
    "returnedAt": None,
    "traceNumber": None,
    "balanceTransactionIds": ["btx_01kajq8e2f3g4h5j6k7m8n9p0q"],
    "createdAt": _MADE_AT,
    "updatedAt": _MADE_AT,
}
_WAITING = {
    **_CREATED,
    "id": "pay_01kajq9d2e3f4g5h6j7k8m9n0p",
    "status": "waiting_for_funds",
    "recipientId": None,
    "waitForFunds": True,
    "waitsUntil": "2026-12-01T15:02:11.480131Z",
    "expectedArrivalDate": None,
    "statusTimestamps": {
        **_NEVER,
        "waitingForFundsAt": _MADE_AT,
    },
    "balanceTransactionIds": [],
}

_BY_ACH = {
    **_CREATED,
    "id": "pay_01kajqad2e3f4g5h6j7k8m9n0p",
    "status": "processing",
    "method": "auto",
    "attempts": [
        {
            "number": 1,
            "method": "rtp",
            "network": "rtp",
            "outcome": "refused",
            "code": "NOAT",
            "startedAt": "2026-11-24T15:02:12.004100Z",
            "endedAt": "2026-11-24T15:02:13.712009Z",
        },
        {
            "number": 2,
            "method": "ach_credit",
            "network": None,
            "outcome": "pending",
            "code": None,
            "startedAt": _SENT_AT,
            "endedAt": None,
        },
    ],
    "statusTimestamps": {**_NEVER, "createdAt": _MADE_AT, "processingAt": _SENT_AT},
    "traceNumber": "099900000000042",
    "updatedAt": _SENT_AT,
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "PaymentRequest": {
        "toAnAccount": {
            "amount": 12_000,
            "recipient": _ACCOUNT_IN,
            "description": "Invoice 2031",
        },
        "toASavedRecipient": {
            "amount": 12_000,
            "recipientId": _RECIPIENT_ID,
            "method": "auto",
            "waitForFunds": True,
        },
    },
    "Payment": {"created": _CREATED, "waiting": _WAITING, "byAnotherWay": _BY_ACH},
    "PaymentConfirmation": {
        "open": {
            "id": "cnf_01kajqba2b3c4d5e6f7g8h9j0k",
            "paymentId": "pay_01kajq8d2e3f4g5h6j7k8m9n0p",
            "decision": "open",
            "expiresAt": "2026-11-27T15:02:11.480131Z",
            "links": [
                {
                    "approverEmail": "cfo@northwind.example",
                    "url": "https://ballast.example/confirm/PLEASE-LOOK-INTO-THE-MAIL/",
                }
            ],
        }
    },
    "SavedRecipientRequest": {"supplier": {**_ACCOUNT_IN, "nickname": "Packaging"}},
    "Recipient": {
        "supplier": {
            **_ACCOUNT,
            "id": _RECIPIENT_ID,
            "nickname": "Packaging",
            "createdAt": "2026-11-24T15:00:00.000000Z",
            "removedAt": None,
        }
    },
    "RemovedRecipient": {
        "removed": {"id": _RECIPIENT_ID, "removedAt": "2026-12-01T09:00:00.000000Z"}
    },
}
PROBLEM_MEMBERS: dict[str, dict[str, Any]] = {
    "duplicate_recipient": {"existingId": _RECIPIENT_ID},
}
