"""The `links` of the reference: which member of which object leads to which operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Target:
    """An operation that takes `member` of an object, in its path or in its body."""

    operation: str
    member: str = "id"
    parameter: str = ""
    body_member: str | None = None
    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.operation.replace("_", " ").title().replace(" ", "")


def _in_path(parameter: str, *operations: str, member: str = "id") -> list[Target]:
    return [Target(operation=name, parameter=parameter, member=member) for name in operations]


_WEBHOOK = _in_path(
    "endpoint_id",
    "webhook_retrieve",
    "webhook_change",
    "webhook_rotate_secret",
    "webhook_test",
    "webhook_replay",
    "webhookDelivery_list",
    "webhook_remove",
)

LINKS = MappingProxyType[str, list[Target]](
    {
        "BalanceTransaction": _in_path("transaction_id", "balanceTransaction_retrieve"),
        "ProvenBalance": _in_path("day", "proof_retrieve", member="day"),
        "FundingSource": [
            *_in_path(
                "source_id",
                "fundingSource_retrieve",
                "fundingSource_make_default",
                "fundingSource_verify",
                "fundingSource_remove",
            ),
            Target(
                operation="topUp_create", body_member="fundingSourceId", body={"amount": 25_000}
            ),
        ],
        "RemovedSource": _in_path("source_id", "fundingSource_retrieve"),
        "FundingTransaction": [
            *_in_path(
                "funding_id",
                "fundingTransaction_retrieve",
                "sandbox_step",
                "sandbox_confirmation",
                "fundingTransaction_cancel",
            ),
            *_in_path("source_id", "fundingSource_retrieve", member="fundingSourceId"),
            *_in_path(
                "transaction_id", "balanceTransaction_retrieve", member="balanceTransactionIds/0"
            ),
        ],
        "AutoFundingDecision": _in_path(
            "funding_id", "fundingTransaction_retrieve", member="fundingTransactionId"
        ),
        "SandboxConfirmation": _in_path(
            "funding_id", "fundingTransaction_retrieve", member="fundingTransactionId"
        ),
        "PaymentConfirmation": _in_path("payment_id", "payment_retrieve", member="paymentId"),
        "Payment": [
            *_in_path(
                "payment_id",
                "payment_retrieve",
                "sandboxPayment_step",
                "sandboxPayment_confirmation",
                "payment_cancel",
            ),
            *_in_path(
                "transaction_id", "balanceTransaction_retrieve", member="balanceTransactionIds/0"
            ),
        ],
        "Recipient": [
            *_in_path("recipient_id", "recipient_retrieve", "recipient_remove"),
            Target(operation="payment_create", body_member="recipientId", body={"amount": 12_000}),
        ],
        "RemovedRecipient": _in_path("recipient_id", "recipient_retrieve"),
        "Webhook": _WEBHOOK,
        "WebhookWithSecret": _WEBHOOK,
        "WebhookDelivery": [
            *_in_path("delivery_id", "webhookDelivery_retrieve", "webhookDelivery_resend"),
            *_in_path("event_id", "event_retrieve", member="eventId"),
        ],
        "Event": _in_path("event_id", "event_retrieve"),
    }
)
