"""New recipients cool down: for a day a second person approves what is paid to them, whatever the
amount (decision 0161). The approval of one payment ends it.

A stolen session or key that adds its own account then meets a person before money leaves. For an
owner who pays with nobody beside them who could be asked, no recipient is new (0072 and 0184).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Min

from payments import caps, selectors
from payments.models import Payment, PaymentSettings, PaymentTotal, Recipient
from payments.services import exemption, limits
from tenants import selectors as tenants
from tenants.actors import Actor
from tenants.models import Mode, Tenant


def hours(rules: PaymentSettings | None, *, mode: str, now: datetime) -> int:
    """For how long a recipient of a tenant of this mode is new; 0: not at all."""
    own = rules.cool_down_at(now) if rules is not None else None
    return default_hours(mode) if own is None else own


def default_hours(mode: str) -> int:
    """For how long, where the tenant said nothing."""
    return settings.RECIPIENT_COOL_DOWN_HOURS if mode == Mode.LIVE else 0


def until(
    recipient: Recipient, *, rules: PaymentSettings | None, mode: str, actor: Actor, now: datetime
) -> datetime | None:
    """When the recipient is no longer new to this actor; None: it is not new, or nobody is asked
    about what they pay. Eight queries at most, none where nothing cools down."""
    found = among([recipient], rules=rules, mode=mode, actor=actor, now=now)
    return found.get(recipient.pk)


def among(
    recipients: Sequence[Recipient],
    *,
    rules: PaymentSettings | None,
    mode: str,
    actor: Actor,
    now: datetime,
) -> Mapping[str, datetime]:
    """Of these recipients of one tenant, by their ids, those that are new to this actor, and until
    when."""
    length = timedelta(hours=hours(rules, mode=mode, now=now))
    young = [row for row in recipients if row.created_at + length > now]
    if not young or _is_off(young[0].tenant_id, rules, actor, now):
        return {}
    tenant_id = young[0].tenant_id
    scopes = {row.pk: limits.scope_of_recipient(row) for row in young}
    since = _known_since(tenant_id, {row.fingerprint: scopes[row.pk] for row in young})
    approved = _approved(tenant_id, set(scopes.values()), since=now - length)
    ends = {
        row.pk: min(row.created_at, since.get(scopes[row.pk], row.created_at)) + length
        for row in young
        if scopes[row.pk] not in approved
    }
    return {pk: moment for pk, moment in ends.items() if moment > now}


def among_of_tenant(
    tenant: Tenant, recipients: Sequence[Recipient], *, actor: Actor, now: datetime
) -> Mapping[str, datetime]:
    """`among`, for recipients of this tenant. One query more."""
    rules = PaymentSettings.objects.filter(tenant_id=tenant.pk).first()
    return among(recipients, rules=rules, mode=tenant.mode, actor=actor, now=now)


def _is_off(tenant_id: str, rules: PaymentSettings | None, actor: Actor, now: datetime) -> bool:
    """Whether nobody is asked about new recipients: the actor is exempt, or the time is that of the
    deployment and nobody belongs to the tenant."""
    if exemption.is_exempt(tenant_id=tenant_id, actor=actor, now=now):
        return True
    is_default = rules is None or rules.cool_down_at(now) is None
    return is_default and not tenants.has_members(tenant_id=tenant_id)


def _known_since(tenant_id: str, scopes: Mapping[str, str]) -> dict[str, datetime]:
    """Since when each of these accounts, scopes by fingerprint, is on the list or was paid."""
    totals = PaymentTotal.objects.filter(
        tenant_id=tenant_id, scope__in=scopes.values(), payments__gt=0
    )
    paid = totals.values_list("scope").annotate(first=Min("hour"))
    found = {scope: hour + caps.GRAIN for scope, hour in paid}
    kept = selectors.saved_as(scopes, tenant_id=tenant_id)
    for fingerprint, created_at in kept.values_list("fingerprint", "created_at"):
        if scope := scopes.get(fingerprint):
            found[scope] = min(created_at, found.get(scope, created_at))
    return found


def _approved(tenant_id: str, scopes: set[str], *, since: datetime) -> set[str]:
    """Those of the scopes to which a payment was approved."""
    rows = Payment.objects.filter(
        tenant_id=tenant_id, created_at__gte=since, confirmed_at__isnull=False
    )
    lists = rows.filter(counted_for__overlap=sorted(scopes)).values_list("counted_for", flat=True)
    return {scope for names in lists for scope in names}
