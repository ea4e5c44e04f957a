"""The only way by which staff can see the full number of a tenant's bank account."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from funding import selectors
from tenants.actors import Actor
from tenants.services import audit


@transaction.atomic
def account_number(*, source_id: str, reason: str, actor: Actor, now: datetime) -> str:
    """The full account number, after the reason and the reader are written to the audit log. Raises
    NotFound."""
    source = selectors.any_source(source_id)
    audit.record(
        tenant_id=source.tenant_id,
        actor=actor,
        action="funding_source.number_revealed",
        subject_id=source.pk,
        details={"bankName": source.bank_name, "last4": source.last4},
        staff_note=reason,
        now=now,
    )
    return source.in_clear().account_number
