"""Above which amount payments need approval where nobody set it (decision 0161)."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings

from payments.models import PaymentSettings
from tenants import selectors as tenants
from tenants.models import Mode, Role

_APPROVERS = (Role.OWNER, Role.APPROVER)
# For how long an owner whose others were removed is not alone yet.
_ALONE_AFTER = timedelta(hours=24)


def threshold_of_settings(
    row: PaymentSettings | None, *, tenant_id: str, mode: str, now: datetime
) -> int | None:
    """The limit by these settings, cents; None: no payment needs approval. Two queries at most."""
    if row is None or row.has_default_approval(now):
        return default_threshold(tenant_id=tenant_id, mode=mode, now=now)
    return row.threshold_at(now)


def default_threshold(*, tenant_id: str, mode: str, now: datetime) -> int | None:
    """The limit of a tenant that set none: the deployment's for a live one, unless there is no
    second person to ask. Two queries at most."""
    if mode != Mode.LIVE or is_alone(tenant_id=tenant_id, now=now):
        return None
    above: int = settings.PAYMENT_APPROVAL_ABOVE
    return above


def is_alone(*, tenant_id: str, now: datetime) -> bool:
    """Whether the tenant has one owner or approver at most, and had no more for a day (decision
    0072). Two queries at most."""
    if len(tenants.member_emails(tenant_id=tenant_id, roles=_APPROVERS)) > 1:
        return False
    return not tenants.has_demoted(tenant_id=tenant_id, since=now - _ALONE_AFTER)
