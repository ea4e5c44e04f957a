"""The tenant's own limit above which a second person approves payments (decisions 0055, 0072)."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction

from approvals.errors import ApprovalClosed, NotAnApprover
from approvals.new_approvers import refuse_new
from common import clock
from common.money import AMOUNT_MAX, format_cents
from payments.errors import InvalidPaymentRule
from payments.models import PaymentSettings
from payments.services import approval_defaults
from tenants import selectors as tenants
from tenants.actors import Actor
from tenants.models import ActorType, Mode, Role, Tenant
from tenants.services import audit, emails

ROLES = (Role.OWNER, Role.APPROVER)
# How long owners and approvers have to refuse a change that protects less.
LOOSENED_AFTER = timedelta(hours=24)
MAIL = "safeguard_changed"
WAITING_MAIL = "safeguard_waiting"


@transaction.atomic
def set_threshold(
    *, tenant_id: str, threshold: int | None, actor: Actor, now: datetime
) -> PaymentSettings:
    """Require approval for payments above `threshold` cents; None: for none.

    Raises InvalidPaymentRule for what is no amount, NotAnOwner.
    A limit that protects more applies at once, and so does one that operators set at the command
    line. A limit that protects less waits until a second person agrees, or for 24 hours: see
    `next_at` of the answer. Owners and approvers are told. Saving the present limit withdraws a
    change that waits.
    """
    if threshold is not None and not 0 <= threshold <= AMOUNT_MAX:
        raise InvalidPaymentRule("Not an amount.", field="approvalThreshold")
    tenant, row = locked_by_owner(tenant_id, actor, now)
    before = row.approval_threshold
    if threshold == before:
        _end_waiting(row, actor, now)
        return row
    if is_looser(before, threshold) and would_wait(tenant, actor, now):
        _let_wait(tenant, row, threshold, actor, now)
        return row
    _apply(row, threshold, actor, now)
    if before is not None and is_looser(before, threshold):
        _mail(tenant, MAIL, before, threshold, actor, now)
    return row


@transaction.atomic
def agree(*, tenant_id: str, actor: Actor, now: datetime) -> PaymentSettings:
    """Apply the waiting change at once, because a second person agrees.

    Raises ApprovalClosed if no change waits, NotAnApprover to the person who asked for it,
    NewApprover.
    """
    tenant, row = _waiting(tenant_id, now)
    require_second(tenant_id=tenant_id, asked_by=row.next_by, by=actor, now=now)
    before, after = row.approval_threshold, row.next_threshold
    _apply(row, after, actor, now)
    _mail(tenant, MAIL, before, after, actor, now)
    return row


@transaction.atomic
def refuse(*, tenant_id: str, actor: Actor, now: datetime) -> None:
    """Withdraw the waiting change; the limit stays as it is. Raises ApprovalClosed if no change
    waits."""
    _tenant, row = _waiting(tenant_id, now)
    _end_waiting(row, actor, now)


def is_looser(before: int | None, after: int | None) -> bool:
    """Whether fewer payments need a second person than before."""
    return before is not None and (after is None or after > before)


def locked(tenant_id: str, now: datetime) -> tuple[Tenant, PaymentSettings]:
    """The tenant, locked, and its settings. Applies changes whose time has come."""
    tenant = Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)
    row = PaymentSettings.objects.filter(tenant=tenant).first()
    row = row or PaymentSettings(tenant=tenant, approval_is_default=True)
    if row.next_at and row.next_at <= now:
        row.approval_threshold, row.approval_is_default = row.next_threshold, False
        _forget_waiting(row)
    if row.approval_is_default:
        row.approval_threshold = approval_defaults.default_threshold(
            tenant_id=tenant_id, mode=tenant.mode
        )
    if row.next_limits_at and row.next_limits_at <= now:
        row.limits = row.next_limits
        row.forget_next_limits()
    if row.next_cool_down_at and row.next_cool_down_at <= now:
        row.cool_down_hours = row.next_cool_down_hours
        row.forget_next_cool_down()
    return tenant, row


def locked_by_owner(tenant_id: str, actor: Actor, now: datetime) -> tuple[Tenant, PaymentSettings]:
    """The same for who changes a rule, whether it protects more or less from then on. Raises
    NotAnOwner to a member who is no owner by the time of the lock."""
    tenant, row = locked(tenant_id, now)
    if actor.type == ActorType.USER:
        tenants.require_owner(tenant_id=tenant_id, user_id=actor.id)
    return tenant, row


def require_second(*, tenant_id: str, asked_by: str, by: Actor, now: datetime) -> None:
    """Refuse agreement of the person who asked for a change, and of who approves no more. The
    caller has locked the tenant, so that nobody is removed meanwhile. Raises NotAnApprover,
    NewApprover."""
    if by.id == asked_by:
        raise NotAnApprover("Whoever asked for the change cannot agree to it.")
    if not tenants.has_role(tenant_id=tenant_id, roles=ROLES, user_id=by.id):
        raise NotAnApprover("You are no owner or approver any more.")
    refuse_new(tenant_id=tenant_id, by=by, now=now)


def _waiting(tenant_id: str, now: datetime) -> tuple[Tenant, PaymentSettings]:
    tenant, row = locked(tenant_id, now)
    if row.next_at is None:
        raise ApprovalClosed("No change of the limit waits any more.")
    return tenant, row


def would_wait(tenant: Tenant, actor: Actor, now: datetime) -> bool:
    """Whether what protects less would wait now: somebody else can agree, or could until a short
    time ago. Nothing waits in the sandbox, which has no money."""
    if actor.type == ActorType.SYSTEM or tenant.mode == Mode.SANDBOX:
        return False
    others = tenants.has_others(tenant_id=tenant.pk, roles=ROLES, user_id=actor.id)
    since = now - LOOSENED_AFTER
    return others or tenants.has_demoted(tenant_id=tenant.pk, roles=ROLES, since=since)


def _let_wait(
    tenant: Tenant, row: PaymentSettings, after: int | None, actor: Actor, now: datetime
) -> None:
    before = row.approval_threshold
    row.next_threshold, row.next_at, row.next_by = after, now + LOOSENED_AFTER, actor.id
    save(row, now)
    _audit(row, "approval_threshold_asked", actor, now, {"from": before, "to": after})
    _mail(tenant, WAITING_MAIL, before, after, actor, now)


def _apply(row: PaymentSettings, threshold: int | None, actor: Actor, now: datetime) -> None:
    before, row.approval_threshold = row.approval_threshold, threshold
    row.approval_is_default = False
    _forget_waiting(row)
    save(row, now)
    _audit(row, "approval_threshold_changed", actor, now, {"from": before, "to": threshold})


def _end_waiting(row: PaymentSettings, actor: Actor, now: datetime) -> None:
    asked = {"from": row.approval_threshold, "to": row.next_threshold}
    if row.next_at:
        _audit(row, "approval_threshold_kept", actor, now, asked)
    _forget_waiting(row)
    save(row, now)


def _forget_waiting(row: PaymentSettings) -> None:
    row.next_threshold, row.next_at, row.next_by = None, None, ""


def save(row: PaymentSettings, now: datetime) -> None:
    """Store the settings of a tenant that the caller has locked."""
    row.updated_at = now
    row.save()


def _audit(
    row: PaymentSettings, what: str, actor: Actor, now: datetime, details: dict[str, int | None]
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
    tenant: Tenant,
    template: str,
    before: int | None,
    after: int | None,
    actor: Actor,
    now: datetime,
) -> None:
    change = {
        "what": "Payments need a second person above",
        "before": _words(before),
        "after": _words(after),
    }
    mail(tenant, template, [change], actor, now)


def mail(
    tenant: Tenant,
    template: str,
    changes: list[dict[str, str]],
    actor: Actor,
    now: datetime,
    *,
    about: str = "approval",
) -> None:
    """Tell owners and approvers of changes that protect less: `what`, `before` and `after`.
    `about` says on which page one that waits is decided: `approval` or `limits`."""
    context = {
        "tenant_name": tenant.name,
        "changed_by": tenants.name_of(actor),
        "changed_at": clock.text_of(now),
        "changes": changes,
        "counts_at": clock.text_of(now + LOOSENED_AFTER),
        "about": about,
    }
    for address in tenants.member_emails(tenant_id=tenant.pk, roles=ROLES):
        values = {**context, "approver_email": address}
        emails.queue(tenant_id=tenant.pk, to=address, template=template, context=values, now=now)


def _words(threshold: int | None) -> str:
    return "never" if threshold is None else format_cents(threshold)
