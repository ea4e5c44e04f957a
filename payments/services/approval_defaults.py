"""Above which amount payments need approval where nobody set it (decision 0161)."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings

from payments.models import PaymentSettings
from tenants import selectors as tenants
from tenants.models import Mode


def threshold_of_settings(
    row: PaymentSettings | None, *, tenant_id: str, mode: str, now: datetime
) -> int | None:
    """The limit by these settings, cents; None: no payment needs approval. One query at most.

    Whom it does not concern, `exemption` says.
    """
    if row is None or row.has_default_approval(now):
        return default_threshold(tenant_id=tenant_id, mode=mode)
    return row.threshold_at(now)


def default_threshold(*, tenant_id: str, mode: str) -> int | None:
    """The limit of a tenant that set none: the deployment's for a live one that people belong to.
    One query at most."""
    if mode != Mode.LIVE or not tenants.has_members(tenant_id=tenant_id):
        return None
    above: int = settings.PAYMENT_APPROVAL_ABOVE
    return above
