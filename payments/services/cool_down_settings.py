"""For how long a tenant's recipients are new. A longer time counts at once; a shorter one waits for
a second person, or a day (decisions 0072 and 0161)."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from approvals.errors import ApprovalClosed
from payments.errors import InvalidPaymentRule
from payments.models import PaymentSettings
from payments.services import approval_settings, cool_down
from payments.services.approval_settings import LOOSENED_AFTER, MAIL, WAITING_MAIL
from tenants.actors import Actor
from tenants.models import Tenant
from tenants.services import audit

HOURS_MAX = 24 * 30


def waiting_change(*, tenant_id: str, now: datetime) -> PaymentSettings | None:
    """The settings, if a change of the cool-down waits; otherwise None."""
    return PaymentSettings.objects.filter(tenant_id=tenant_id, next_cool_down_at__gt=now).first()


@transaction.atomic
def set_hours(*, tenant_id: str, hours: int | None, actor: Actor, now: datetime) -> PaymentSettings:
    """Say how long a recipient is new, for payments from now on; None: as the deployment says.

    See `next_cool_down_at` of the answer for whether it waits. Saving the present hours withdraws a
    change that waits. Raises InvalidPaymentRule for more than 30 days, NotAnOwner.
    """
    if hours is not None and not 0 <= hours <= HOURS_MAX:
        raise InvalidPaymentRule("From 0 to 720 hours.", field="coolDownHours")
    tenant, row = approval_settings.locked_by_owner(tenant_id, actor, now)
    if hours == row.cool_down_hours:
        _withdraw(row, actor, now)
        return row
    before, after = _effective(row.cool_down_hours, tenant), _effective(hours, tenant)
    if after >= before or not approval_settings.would_wait(tenant, actor, now):
        _apply(tenant, row, hours, actor, now)
        return row
    row.next_cool_down_hours = hours
    row.next_cool_down_at, row.next_cool_down_by = now + LOOSENED_AFTER, actor.id
    approval_settings.save(row, now)
    _audit(row, "cool_down_asked", {"from": row.cool_down_hours, "to": hours}, actor, now)
    _mail(tenant, WAITING_MAIL, before, after, actor, now)
    return row


@transaction.atomic
def agree(*, tenant_id: str, actor: Actor, now: datetime) -> None:
    """Apply the waiting change at once, because a second person agrees.

    Raises ApprovalClosed if no change waits, NotAnApprover to the person who asked for it,
    NewApprover.
    """
    tenant, row = approval_settings.locked(tenant_id, now)
    if row.next_cool_down_at is None:
        raise ApprovalClosed("No change of the cool-down waits any more.")
    approval_settings.require_second(
        tenant_id=tenant_id, asked_by=row.next_cool_down_by, by=actor, now=now
    )
    _apply(tenant, row, row.next_cool_down_hours, actor, now)


@transaction.atomic
def withdraw(*, tenant_id: str, actor: Actor, now: datetime) -> None:
    """Let the cool-down stay as it is; nothing happens if no change waits."""
    _tenant, row = approval_settings.locked(tenant_id, now)
    _withdraw(row, actor, now)


def _effective(hours: int | None, tenant: Tenant) -> int:
    return cool_down.default_hours(tenant.mode) if hours is None else hours


def _apply(
    tenant: Tenant, row: PaymentSettings, hours: int | None, actor: Actor, now: datetime
) -> None:
    before, row.cool_down_hours = row.cool_down_hours, hours
    row.forget_next_cool_down()
    approval_settings.save(row, now)
    _audit(row, "cool_down_changed", {"from": before, "to": hours}, actor, now)
    was, is_now = _effective(before, tenant), _effective(hours, tenant)
    if is_now < was:
        _mail(tenant, MAIL, was, is_now, actor, now)


def _withdraw(row: PaymentSettings, actor: Actor, now: datetime) -> None:
    if row.next_cool_down_at is None:
        return
    kept = {"from": row.cool_down_hours, "to": row.next_cool_down_hours}
    row.forget_next_cool_down()
    approval_settings.save(row, now)
    _audit(row, "cool_down_kept", kept, actor, now)


def _audit(
    row: PaymentSettings, what: str, details: dict[str, int | None], actor: Actor, now: datetime
) -> None:
    audit.record(
        tenant_id=row.tenant_id,
        actor=actor,
        action=f"payments.{what}",
        subject_id=row.tenant_id,
        details={**details},
        now=now,
    )


def _mail(
    tenant: Tenant, template: str, before: int, after: int, actor: Actor, now: datetime
) -> None:
    change = {
        "what": "New recipients need a second person for",
        "before": words_of(before),
        "after": words_of(after),
    }
    approval_settings.mail(tenant, template, [change], actor, now, about="limits")


def words_of(hours: int) -> str:
    """A cool-down for people."""
    return "1 hour" if hours == 1 else f"{hours} hours"
