"""The audit log."""

from __future__ import annotations

from datetime import datetime

import structlog

from common.engine import sql
from tenants.actors import Actor
from tenants.models import AuditEvent


def record(
    *,
    tenant_id: str | None,
    actor: Actor,
    action: str,
    subject_id: str = "",
    details: dict[str, object] | None = None,
    staff_note: str = "",
    now: datetime,
) -> AuditEvent:
    """Write down who did what, in the caller's transaction.

    The tenant can read `details`, which hold no secrets, but not `staff_note`.
    """
    context = structlog.contextvars.get_contextvars()
    event = AuditEvent(
        tenant_id=tenant_id,
        actor_type=actor.type,
        actor_id=actor.id,
        action=action,
        subject_id=subject_id,
        details=details or {},
        request_id=context.get("request_id", ""),
        staff_note=staff_note,
        address=context.get("ip", "")[:45],
        created_at=now,
    )
    sql.insert(event)  # which reads nothing back: not every role may read the log
    return event
