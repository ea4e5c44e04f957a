"""The names of what we tell tenants about (`docs/api.md`)."""

from __future__ import annotations

from webhooks import bodies

# Told about every transfer, in or out.
PAYMENT_EVENTS = (
    "payment.created",
    "payment.processing",
    "payment.completed",
    "payment.failed",
    "payment.returned",
)
# Sent only to endpoints that name them.
NOTICES = tuple(bodies.NOTICES)
ALL = PAYMENT_EVENTS + NOTICES

MEANINGS = {
    "payment.created": "A funding or payment was accepted",
    "payment.processing": "It was handed to the payment network",
    "payment.completed": "The money has arrived",
    "payment.failed": "It was declined, canceled, rejected or expired",
    "payment.returned": "A bank sent it back, perhaps after completion",
    "funding_source.updated": "A bank account was verified, refused or removed",
    "auto_funding.paused": "Auto-funding is paused, for a while or until somebody acts",
    "auto_funding.skipped": "Auto-funding was due but could not add money",
    "confirmation.requested": "An approver was asked by e-mail",
    "balance.low": "The balance fell below its threshold",
}

# In an endpoint's list: every payment event. It stands alone, and does not name the notices.
EVERY_PAYMENT = "*"

# What a test call sends. It is never stored and cannot be subscribed to.
TEST = "webhook.test"
