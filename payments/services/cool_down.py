"""New recipients cool down: for a day a second person approves what is paid to them, whatever the
amount (decision 0161). The approval of one payment ends it. Once a payment to it was declined
meanwhile, only an approval does (decision 0192).

A stolen session or key that adds its own account then meets a person before money leaves. For an
owner who pays with nobody beside them who could be asked, no recipient is new (0072 and 0184).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Min

from approvals.models import ApprovalStatus
from payments import caps, selectors
from payments.models import Payment, PaymentConfirmation, PaymentSettings, PaymentTotal, Recipient
from payments.services import exemption, limits
from tenants import selectors as tenants
from tenants.actors import Actor
from tenants.models import Mode, Tenant


@dataclass(frozen=True)
class New:
    """A recipient that is new. `until`: when it is no longer; None: once a payment to it is
    approved, because one was declined."""

    until: datetime | None


@dataclass(frozen=True)
class _History:
    """What is known of accounts of one tenant, by their scopes: the first decline of each, since
    when it is on the list or was paid, and those to which a payment was approved. `length`: for how
    long one is new."""

    length: timedelta
    declined: Mapping[str, datetime]
    known: Mapping[str, datetime]
    approved: Collection[str]

    def of(self, row: Recipient, scope: str, *, now: datetime) -> New | None:
        """Whether the recipient is new; None: it is not."""
        if scope in self.approved:
            return None
        end = min(row.created_at, self.known.get(scope, row.created_at)) + self.length
        if scope in self.declined and self.declined[scope] < end:
            return New(None)
        return New(end) if end > now else None


def hours(rules: PaymentSettings | None, *, mode: str, now: datetime) -> int:
    """For how long a recipient of a tenant of this mode is new; 0: not at all."""
    own = rules.cool_down_at(now) if rules is not None else None
    return default_hours(mode) if own is None else own


def default_hours(mode: str) -> int:
    """For how long, where the tenant said nothing."""
    return settings.RECIPIENT_COOL_DOWN_HOURS if mode == Mode.LIVE else 0


def of(
    recipient: Recipient, *, rules: PaymentSettings | None, mode: str, actor: Actor, now: datetime
) -> tuple[New | None, bool]:
    """Whether the recipient is new to this actor; None: it is not, or nobody is asked about what
    they pay. And whether it would be new to others.

    Ten queries at most, one for who is known, none where nothing cools down.
    """
    found = _to_others([recipient], rules=rules, mode=mode, now=now).get(recipient.pk)
    if found is None or _is_off(recipient.tenant_id, rules, actor, now):
        return None, found is not None
    return found, True


def among(
    recipients: Sequence[Recipient],
    *,
    rules: PaymentSettings | None,
    mode: str,
    actor: Actor,
    now: datetime,
) -> Mapping[str, New]:
    """Of these recipients of one tenant, by their ids, those that are new to this actor."""
    found = _to_others(recipients, rules=rules, mode=mode, now=now)
    if not found or _is_off(recipients[0].tenant_id, rules, actor, now):
        return {}
    return found


def _to_others(
    recipients: Sequence[Recipient], *, rules: PaymentSettings | None, mode: str, now: datetime
) -> Mapping[str, New]:
    """Those that are new to everybody who is asked about new recipients."""
    length = timedelta(hours=hours(rules, mode=mode, now=now))
    if not length or not recipients:
        return {}
    tenant_id = recipients[0].tenant_id
    scopes = {row.pk: limits.scope_of_recipient(row) for row in recipients}
    declined = _declined(tenant_id, set(scopes.values()))
    asked = [
        row for row in recipients if row.created_at + length > now or scopes[row.pk] in declined
    ]
    if not asked:
        return {}
    history = _History(
        length,
        declined,
        known=_known_since(tenant_id, {row.fingerprint: scopes[row.pk] for row in asked}),
        approved=_approved(
            tenant_id,
            {scopes[row.pk] for row in asked},
            since=min([now, *declined.values()]) - length,
        ),
    )
    found = {row.pk: history.of(row, scopes[row.pk], now=now) for row in asked}
    return {pk: new for pk, new in found.items() if new is not None}


def among_of_tenant(
    tenant: Tenant, recipients: Sequence[Recipient], *, actor: Actor, now: datetime
) -> Mapping[str, New]:
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


def _declined(tenant_id: str, scopes: set[str]) -> dict[str, datetime]:
    """When the first payment that was declined to each of these scopes was ordered. One query."""
    rows = PaymentConfirmation.objects.filter(
        tenant_id=tenant_id,
        decision=ApprovalStatus.DECLINED,
        payment__counted_for__overlap=sorted(scopes),
    )
    found: dict[str, datetime] = {}
    for names, at in rows.values_list("payment__counted_for", "payment__created_at"):
        for scope in scopes.intersection(names):
            found[scope] = min(at, found.get(scope, at))
    return found


def _approved(tenant_id: str, scopes: set[str], *, since: datetime) -> set[str]:
    """Those of the scopes to which a payment was approved."""
    rows = Payment.objects.filter(
        tenant_id=tenant_id, created_at__gte=since, confirmed_at__isnull=False
    )
    lists = rows.filter(counted_for__overlap=sorted(scopes)).values_list("counted_for", flat=True)
    return {scope for names in lists for scope in names}
