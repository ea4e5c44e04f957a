"""The only way by which staff can see the full number of a bank account."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from tenants.actors import Actor
from tenants.services import audit
from transfers.accounts import AccountData


@transaction.atomic
def account_number(
    account: AccountData,
    *,
    tenant_id: str,
    action: str,
    reason: str,
    actor: Actor,
    now: datetime,
) -> str:
    """The full account number, after the reason and the reader are written to the audit log."""
    audit.record(
        tenant_id=tenant_id,
        actor=actor,
        action=action,
        subject_id=account.pk,
        details={"bankName": account.bank_name, "last4": account.last4},
        staff_note=reason,
        now=now,
    )
    return account.in_clear().account_number
