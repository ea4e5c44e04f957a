"""Staff look at a tenant's dashboard: for a limited time, audited, without changing anything."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction

from tenants.actors import Actor
from tenants.services import audit

LASTS = timedelta(minutes=30)


@transaction.atomic
def begin(*, tenant_id: str, reason: str, actor: Actor, now: datetime) -> datetime:
    """Record that `actor` starts to look; returns until when they may."""
    until = now + LASTS
    audit.record(
        tenant_id=tenant_id,
        actor=actor,
        action="tenant.viewed_by_staff",
        subject_id=tenant_id,
        details={"until": until.isoformat()},
        staff_note=reason,
        now=now,
    )
    return until


@transaction.atomic
def end(*, tenant_id: str, actor: Actor, now: datetime, has_expired: bool) -> None:
    """Record that `actor` stopped looking, or came back after the time was up."""
    audit.record(
        tenant_id=tenant_id,
        actor=actor,
        action="tenant.view_by_staff_ended",
        subject_id=tenant_id,
        details={"how": "time was up" if has_expired else "ended"},
        now=now,
    )
