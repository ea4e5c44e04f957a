"""The only way by which staff can see the full number of a recipient's bank account."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from payments import selectors
from tenants.actors import Actor
from tenants.services import audit


@transaction.atomic
def account_number(*, recipient_id: str, reason: str, actor: Actor, now: datetime) -> str:
    """The full account number, after the reason and the reader are written to the audit log. Raises
    NotFound."""
    recipient = selectors.any_recipient(recipient_id)
    audit.record(
        tenant_id=recipient.tenant_id,
        actor=actor,
        action="recipient.number_revealed",
        subject_id=recipient.pk,
        details={"bankName": recipient.bank_name, "last4": recipient.last4},
        staff_note=reason,
        now=now,
    )
    return recipient.in_clear().account_number
