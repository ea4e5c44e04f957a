"""What an API key may be allowed to do."""

from __future__ import annotations

ALL = (
    "balance:read",
    "funding:read",
    "funding:write",
    "sources:read",
    "sources:write",
    "autofunding:read",
    "autofunding:write",
    "payments:read",
    "payments:write",
    "webhooks:read",
    "webhooks:write",
)
