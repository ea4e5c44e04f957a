"""The names of what we tell tenants about (CONTRACT § 8)."""

from __future__ import annotations

# Every movement over a payment network, in or out.
PAYMENT_EVENTS = (
    "payment.created",
    "payment.processing",
    "payment.completed",
    "payment.failed",
    "payment.returned",
)
# Sent only to endpoints that name them.
NOTICES = (
    "funding_source.updated",
    "auto_funding.paused",
    "auto_funding.skipped",
    "confirmation.requested",
    "balance.low",
)
ALL = PAYMENT_EVENTS + NOTICES

# In an endpoint's list: every payment event. It stands alone, and does not name the notices.
EVERY_PAYMENT = "*"

# What a test call sends. It is never stored and cannot be subscribed to.
TEST = "webhook.test"
