"""A tenant's own limits on money out. What lets through less counts at once; what lets through more
waits for a second person, or a day, unless the owner is alone (decisions 0072 and 0161)."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from approvals.errors import ApprovalClosed
from common.money import AMOUNT_MAX, format_cents
from payments import caps
from payments.caps import Cap, Caps, CapScope, Window
from payments.errors import InvalidPaymentRule
from payments.models import PaymentSettings
from payments.services import approval_settings, limits
from payments.services.approval_settings import LOOSENED_AFTER, MAIL, WAITING_MAIL
from tenants.actors import Actor
from tenants.models import Tenant
from tenants.services import audit

_WORDS = {
    CapScope.TENANT: "Money out",
    CapScope.RECIPIENT: "Money to one recipient",
    CapScope.KEY: "Money out by one API key",
    CapScope.PERSON: "Money out by one person",
}
_WINDOWS = {Window.DAY: "in any 24 hours", Window.MONTH: "in any 30 days"}


def waiting_change(*, tenant_id: str, now: datetime) -> PaymentSettings | None:
    """The settings, if a change of the limits waits; otherwise None."""
    return PaymentSettings.objects.filter(tenant_id=tenant_id, next_limits_at__gt=now).first()


@transaction.atomic
def change(*, tenant_id: str, wanted: Caps, actor: Actor, now: datetime) -> PaymentSettings:
    """Limit what the tenant pays out.

    Raises InvalidPaymentRule for an amount or a number out of range, NotAnOwner.

    See `next_limits_at` of the answer for whether it waits. Saving the present limits withdraws a
    change that waits. Payments that are made already count, and are not looked at again.
    """
    _require_possible(wanted)
    tenant, row = approval_settings.locked_by_owner(tenant_id, actor, now)
    before = limits.of_settings(row, mode=tenant.mode, now=now)
    if wanted == before:
        _withdraw(row, actor, now)
        return row
    is_looser = caps.is_looser(before, wanted)
    waits = is_looser and approval_settings.would_wait(tenant, actor, now)
    row.forget_next_limits()
    if waits:
        row.next_limits = caps.to_stored(wanted)
        row.next_limits_at, row.next_limits_by = now + LOOSENED_AFTER, actor.id
    else:
        row.limits = caps.to_stored(wanted)
    approval_settings.save(row, now)
    _audit(row, "limits_asked" if waits else "limits_changed", before, wanted, actor, now)
    if is_looser:
        _mail(tenant, WAITING_MAIL if waits else MAIL, before, wanted, actor, now)
    return row


@transaction.atomic
def agree(*, tenant_id: str, actor: Actor, now: datetime) -> None:
    """Apply the waiting change at once, because a second person agrees.

    Raises ApprovalClosed if no change waits, NotAnApprover to the person who asked for it,
    NewApprover.
    """
    tenant, row = approval_settings.locked(tenant_id, now)
    if row.next_limits_at is None:
        raise ApprovalClosed("No change of the limits waits any more.")
    approval_settings.require_second(
        tenant_id=tenant_id, asked_by=row.next_limits_by, by=actor, now=now
    )
    before = limits.of_settings(row, mode=tenant.mode, now=now)
    row.limits = row.next_limits
    row.forget_next_limits()
    after = limits.of_settings(row, mode=tenant.mode, now=now)
    approval_settings.save(row, now)
    _audit(row, "limits_changed", before, after, actor, now)
    _mail(tenant, MAIL, before, after, actor, now)


@transaction.atomic
def withdraw(*, tenant_id: str, actor: Actor, now: datetime) -> None:
    """Let the limits stay as they are; nothing happens if no change waits."""
    _tenant, row = approval_settings.locked(tenant_id, now)
    _withdraw(row, actor, now)


def _withdraw(row: PaymentSettings, actor: Actor, now: datetime) -> None:
    if row.next_limits_at is None:
        return
    row.forget_next_limits()
    approval_settings.save(row, now)
    audit.record(
        tenant_id=row.tenant_id,
        actor=actor,
        action="payments.limits_kept",
        subject_id=row.tenant_id,
        details={},
        now=now,
    )


def _require_possible(wanted: Caps) -> None:
    for key in caps.KEYS:
        if not all(1 <= most <= AMOUNT_MAX for most in wanted[key] if most is not None):
            raise InvalidPaymentRule("Not an amount.", field=".".join(key))


def changed(before: Caps, after: Caps) -> list[tuple[CapScope, Window]]:
    """The scopes and windows whose limits differ."""
    return [key for key in caps.KEYS if before[key] != after[key]]


def _mail(
    tenant: Tenant, template: str, before: Caps, after: Caps, actor: Actor, now: datetime
) -> None:
    told = [_told(key, before[key], after[key]) for key in changed(before, after)]
    approval_settings.mail(tenant, template, told, actor, now, about="limits")


def _audit(
    row: PaymentSettings, what: str, before: Caps, after: Caps, actor: Actor, now: datetime
) -> None:
    audit.record(
        tenant_id=row.tenant_id,
        actor=actor,
        action=f"payments.{what}",
        subject_id=row.tenant_id,
        details={"from": caps.to_stored(before), "to": caps.to_stored(after)},
        now=now,
    )


def _told(key: tuple[CapScope, Window], before: Cap, after: Cap) -> dict[str, str]:
    return {
        "what": title(*key),
        "before": words_of(before),
        "after": words_of(after),
    }


def title(scope: CapScope, window: Window) -> str:
    """What is limited, for people."""
    return f"{_WORDS[scope]} {_WINDOWS[window]}"


def words_of(cap: Cap) -> str:
    """A limit for people."""
    amount = "no limit" if cap.amount is None else format_cents(cap.amount)
    return amount if cap.payments is None else f"{amount}, {cap.payments:,} payments"
