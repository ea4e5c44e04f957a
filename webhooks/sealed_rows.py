"""What seals cover of webhooks: events as they were sent, for as long as they are kept.

Attempts are not sealed: they are a log of ours and are deleted with their event, whatever their
age.
"""

from __future__ import annotations

from common.sealed import DatedRows
from webhooks.models import WebhookEvent
from webhooks.services.retention import KEPT_FOR

KINDS = (
    DatedRows(
        name="events",
        label="webhook events",
        model=WebhookEvent,
        kept_for=KEPT_FOR,
        layouts=("id tenant_id type payment_id sequence receivers body created_at",),
    ),
)
