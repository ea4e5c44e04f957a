"""What a tenant's people are told about its recipients, in the caller's transaction."""

from __future__ import annotations

from datetime import datetime

from payments.models import Recipient
from tenants import selectors as tenants
from tenants.services import emails


def corrected(*, recipient: Recipient, was: str, what: str, now: datetime) -> None:
    """Tell people that the bank of a saved recipient corrected `what`. `was`: the digits that they
    knew the account by."""
    context = {
        "tenant_name": tenants.tenant(recipient.tenant_id).name,
        "is_recipient": True,
        "bank_name": recipient.bank_name,
        "last4": recipient.last4,
        "was": was,
        "what": what,
        "account_id": recipient.pk,
    }
    emails.queue_notice(
        tenant_id=recipient.tenant_id, template="account_corrected", context=context, now=now
    )
