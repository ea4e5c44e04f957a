"""Lines of the audit log, made old enough to leave."""

from __future__ import annotations

from datetime import timedelta

from common import ids
from common.clock import utc_now
from tenants import actors
from tenants.models import AuditEvent
from tenants.services import audit
from tests.corruption import tamper


def note(tenant, action, *, actor=actors.SYSTEM, at=None):
    return audit.record(
        tenant_id=tenant and tenant.pk, actor=actor, action=action, now=at or utc_now()
    )


def make_old():
    """Give every new line an id of an hour ago, in the order that they have."""
    start = utc_now() - timedelta(hours=1)
    new = AuditEvent.objects.filter(pk__gt=ids.lowest("aud", start)).order_by("pk")
    for place, row in enumerate(new):
        moment = start + timedelta(microseconds=place)
        older = ids.lowest("aud", moment)
        tamper(f"UPDATE tenants_auditevent SET id = '{older}' WHERE id = '{row.pk}'")
