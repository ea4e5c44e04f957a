"""Examples for the API reference, by component. Northwind tops up $250.00 by ACH debit."""

from __future__ import annotations

from typing import Any

_SOURCE_ID = "fs_01kajq3a2b3c4d5e6f7g8h9j0k"
_FUNDING_ID = "ftx_01kajq4j2k3m4n5p6q7r8s9t0v"
_MADE_AT = "2026-11-20T15:00:00.000000Z"

_LINKED = {
    "bankName": "JPMorgan Chase Bank",
    "last4": "6789",
    "routingNumber": "021000021",
    "accountHolderName": "Northwind Trading LLC",
    "accountHolderType": "business",
    "accountType": "checking",
    "id": _SOURCE_ID,
    "type": "linked",
    "status": "active",
    "verificationMethod": "bank_link",
    "supportedMethods": ["ach_debit", "rtp"],
    "isDefault": True,
    "lastReturnCode": None,
    "createdAt": "2026-11-20T14:58:12.004217Z",
    "removedAt": None,
}
_UNVERIFIED = {
    **_LINKED,
    "id": "fs_01kajq3m2n3p4q5r6s7t8v9w0x",
    "type": "manual",
    "status": "pending_verification",
    "verificationMethod": "micro_deposits",
    "isDefault": False,
}
_RESERVED_TIMES = {
    "reservedAt": _MADE_AT,
    "awaitingConfirmationAt": None,
    "pendingAt": None,
    "inTransitAt": None,
    "completedAt": None,
    "failedAt": None,
}
_RESERVED = {
    "id": _FUNDING_ID,
    "amount": 25_000,
    "currency": "USD",
    "status": "reserved",
    "fundingMethod": "ach_debit",
    "network": None,
    "speed": "standard",
    "fundingSourceId": _SOURCE_ID,
    "trigger": "topup",
    "retryOf": None,
    "createdBy": {"type": "api_key", "id": "key_01kajq2a2b3c4d5e6f7g8h9j0k"},
    "description": "November float",
    "metadata": {"invoice": "7"},
    "requiresConfirmation": False,
    "confirmationExpiresAt": None,
    "approval": None,
    "expectedAvailabilityDate": "2026-11-24",
    "expiresAt": None,
    "statusTimestamps": _RESERVED_TIMES,
    "failureCode": None,
    "failureMessage": None,
    "returned": False,
    "returnCode": None,
    "returnReason": None,
    "returnedAt": None,
    "traceNumber": None,
    "balanceTransactionIds": [],
    "createdAt": _MADE_AT,
    "updatedAt": _MADE_AT,
}
_RETURNED = {
    **_RESERVED,
    "status": "failed",
    "expectedAvailabilityDate": None,
    "statusTimestamps": {
        "reservedAt": _MADE_AT,
        "awaitingConfirmationAt": None,
        "pendingAt": "2026-11-20T15:00:04.100000Z",
        "inTransitAt": "2026-11-20T15:30:00.000000Z",
        "completedAt": None,
        "failedAt": "2026-11-23T13:30:00.000000Z",
    },
    "failureCode": "R01",
    "failureMessage": "Insufficient funds",
    "returned": True,
    "returnCode": "R01",
    "returnReason": "Insufficient funds",
    "returnedAt": "2026-11-23T13:30:00.000000Z",
    "traceNumber": "021000020000001",
    "updatedAt": "2026-11-23T13:30:00.000000Z",
}
_APPROVED = {
    **_RESERVED,
    "trigger": "auto_funding",
    "retryOf": None,
    "createdBy": {"type": "system", "id": None},
    "description": "Auto-funding",
    "metadata": {},
    "requiresConfirmation": True,
    "approval": {
        "status": "approved",
        "decidedBy": {"type": "approver", "id": "cfo@northwind.example"},
        "decidedAt": "2026-11-20T15:20:00.000000Z",
        "declineReason": None,
    },
    "statusTimestamps": {
        **_RESERVED_TIMES,
        "reservedAt": "2026-11-20T15:20:00.000000Z",
        "awaitingConfirmationAt": _MADE_AT,
    },
    "updatedAt": "2026-11-20T15:20:00.000000Z",
}
_DISABLED: dict[str, Any] = {
    "enabled": False,
    "lowBalanceThreshold": None,
    "fundingAmount": None,
    "fundingMethod": None,
    "confirmationThreshold": None,
    "fundingSourceId": None,
    "monthlyLimit": None,
    "confirmationEmails": [],
    "confirmTopups": False,
    "status": "disabled",
    "pausedReason": None,
    "pausedUntil": None,
    "lastDeclineReason": None,
    "lastTriggeredAt": None,
    "inFlightAmount": 0,
    "fundedThisMonth": 0,
    "updatedAt": None,
}
_RULES = {
    "enabled": True,
    "lowBalanceThreshold": 20_000,
    "fundingAmount": 50_000,
    "fundingMethod": "ach_debit",
    "confirmationThreshold": 30_000,
    "fundingSourceId": _SOURCE_ID,
    "monthlyLimit": 500_000,
    "confirmationEmails": ["cfo@northwind.example"],
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "TopUpRequest": {
        "shortest": {"amount": 25_000, "fundingSourceId": _SOURCE_ID},
        "everything": {
            "amount": 25_000,
            "fundingSourceId": _SOURCE_ID,
            "fundingMethod": "rtp",
            "description": "November float",
            "metadata": {"invoice": "7"},
        },
    },
    "FundingTransaction": {"reserved": _RESERVED, "returned": _RETURNED, "approved": _APPROVED},
    "LinkedSourceRequest": {
        "sandbox": {
            "linkProcessorToken": "processor-sandbox-northwind",
            "linkAccountId": "acc_operating",
            "accountHolderName": "Northwind Trading LLC",
        }
    },
    "ManualSourceRequest": {
        "checking": {
            "accountNumber": "000123456789",
            "routingNumber": "021000021",
            "accountHolderName": "Northwind Trading LLC",
            "accountHolderType": "business",
            "accountType": "checking",
        }
    },
    "VerificationRequest": {"twoDeposits": {"amounts": [11, 22]}},
    "FundingSource": {"linked": _LINKED, "unverified": _UNVERIFIED},
    "RemovedSource": {
        "removed": {
            "id": _SOURCE_ID,
            "status": "removed",
            "removedAt": "2026-12-01T09:00:00.000000Z",
        }
    },
    "AutoFundingConfigRequest": {
        "enable": {name: _RULES[name] for name in _RULES if name != "fundingSourceId"},
        "nameTheAccount": {"fundingSourceId": _SOURCE_ID},
        "neverAsk": {"confirmationThreshold": None},
        "switchOff": {"enabled": False},
    },
    "AutoFundingConfig": {
        "active": {
            **_DISABLED,
            **_RULES,
            "status": "active",
            "lastTriggeredAt": "2026-11-19T08:14:03.551200Z",
            "fundedThisMonth": 50_000,
            "updatedAt": "2026-11-02T16:20:00.000000Z",
        },
        "monthUsedUp": {
            **_DISABLED,
            **_RULES,
            "status": "active",
            "lastDeclineReason": "auto_funding_monthly_limit",
            "lastTriggeredAt": "2026-11-19T08:14:03.551200Z",
            "fundedThisMonth": 500_000,
            "updatedAt": "2026-11-02T16:20:00.000000Z",
        },
        "neverSaved": _DISABLED,
    },
    "AutoFundingDecision": {
        "fired": {
            "id": "afd_01kajq5a2b3c4d5e6f7g8h9j0k",
            "outcome": "fired",
            "reason": "below_threshold",
            "availableBalance": 15_000,
            "inFlightAmount": 0,
            "lowBalanceThreshold": 20_000,
            "fundingAmount": 50_000,
            "fundingTransactionId": _FUNDING_ID,
            "createdAt": "2026-11-19T08:14:03.551200Z",
        }
    },
    "DueWork": {
        "one": {
            "transitions": [
                {
                    "id": _FUNDING_ID,
                    "fromStatus": "in_transit",
                    "toStatus": "completed",
                    "at": "2026-11-20T15:00:07.000000Z",
                }
            ]
        }
    },
    "SandboxConfirmation": {
        "open": {
            "id": "cnf_01kajq6a2b3c4d5e6f7g8h9j0k",
            "fundingTransactionId": _FUNDING_ID,
            "decision": "open",
            "expiresAt": "2026-11-23T15:00:00.000000Z",
            "links": [
                {
                    "approverEmail": "cfo@northwind.example",
                    "url": "https://ballast.example/confirm/PLEASE-LOOK-INTO-THE-MAIL/",
                }
            ],
        }
    },
}
PROBLEM_MEMBERS: dict[str, dict[str, Any]] = {
    "amount_above_limit": {
        "detail": "At most $1,000,000.00 per transaction by ACH debit.",
        "limit": 100_000_000,
    },
    "duplicate_funding_source": {"existingId": _SOURCE_ID},
    "verification_amounts_wrong": {"attemptsRemaining": 2},
}
