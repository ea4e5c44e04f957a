"""What an API key may be allowed to do."""

from __future__ import annotations

MEANINGS = {
    "balance:read": "See the balance, the statement and the limits",
    "funding:read": "See money coming in",
    "funding:write": "Add money from a bank account, and cancel it",
    "sources:read": "See bank accounts, without their numbers",
    "sources:write": "Add, verify and remove bank accounts",
    "autofunding:read": "See the auto-funding rule and its decisions",
    "autofunding:write": "Change the auto-funding rule",
    "payments:read": "See payments and recipients",
    "payments:write": "Pay out of the balance, and save recipients",
    "webhooks:read": "See webhook endpoints, deliveries and events",
    "webhooks:write": "Change webhook endpoints and their secrets, send again",
}
ALL = tuple(MEANINGS)
