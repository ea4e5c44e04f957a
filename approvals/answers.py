"""An approver approves or declines: by magic link without an account, or signed in."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from approvals import deciders, outcomes, policies, tokens
from approvals.errors import AmountMismatch, ApprovalClosed
from approvals.models import Approval, ApprovalStatus
from approvals.policies import AnyPolicy, Approver
from approvals.requests import REASON_LENGTH_MAX
from common.money import format_cents, parse_dollars
from tenants import actors
from tenants.errors import TenantSuspended
from tenants.models import TenantStatus
from tenants.services import members, switches


def approve(*, token: str, typed_amount: str, now: datetime) -> None:
    """Let the money move, in the name of the link's approver, who typed its amount.

    Raises UnknownApproval, LinkEnded, ApprovalClosed, AmountMismatch, TenantSuspended, and what the
    policy's `require_approvable` raises. An approval whose terms no longer apply is withdrawn; then
    ApprovalClosed.
    """
    policy, approval_id, approver = _by_link(token)
    _approve(policy, approval_id, approver, typed_amount, now)


def decline(*, token: str, reason: str, now: datetime) -> None:
    """Stop it for good, in the name of the link's approver.

    Raises UnknownApproval, LinkEnded, ApprovalClosed.
    """
    policy, approval_id, approver = _by_link(token)
    _decline(policy, approval_id, approver, reason, now)


def approve_signed_in(
    *, tenant_id: str, approval_id: str, by: Approver, typed_amount: str, now: datetime
) -> None:
    """Let the money move, in the name of a person who is signed in and decides it.

    Raises NotAnApprover, and what `approve` raises.
    """
    policy = _policy_for(tenant_id, approval_id, by)
    _approve(policy, approval_id, by, typed_amount, now)


def decline_signed_in(
    *, tenant_id: str, approval_id: str, by: Approver, reason: str, now: datetime
) -> None:
    """Stop it for good, in the name of a person who is signed in and decides it.

    Raises UnknownApproval, NotAnApprover, ApprovalClosed.
    """
    policy = _policy_for(tenant_id, approval_id, by)
    _decline(policy, approval_id, by, reason, now)


def _by_link(token: str) -> tuple[AnyPolicy, str, Approver]:
    """What the link is about, and its holder. Raises UnknownApproval, LinkEnded."""
    link = tokens.opened(token)
    by = Approver(email=link.email, actor=actors.approver(link.email))
    return link.policy, link.approval.pk, by


def _policy_for(tenant_id: str, approval_id: str, by: Approver) -> AnyPolicy:
    """Raises UnknownApproval; NotAnApprover for somebody who does not decide it."""
    policy, approval = policies.find(tenant_id=tenant_id, approval_id=approval_id)
    deciders.require(policy, approval, by.email)
    return policy


def _approve(
    policy: AnyPolicy, approval_id: str, by: Approver, typed_amount: str, now: datetime
) -> None:
    with transaction.atomic():
        approval = outcomes.lock_open(policy, approval_id, now=now)
        switches.require_writable(tenant_id=approval.tenant_id)
        is_stale = policy.withdraw_if_stale(approval, now)
        if not is_stale:
            _require_approvable(policy, approval, by, typed_amount, now)
            outcomes.close(policy, approval, ApprovalStatus.APPROVED, decided_by=by.email, now=now)
            policy.go_ahead(approval, by.actor, now)
            outcomes.record_audit(approval, "approved", by=by.actor, now=now)
    if is_stale:
        raise ApprovalClosed("The terms have changed since this request was made.")


def _require_approvable(
    policy: AnyPolicy, approval: Approval, by: Approver, typed_amount: str, now: datetime
) -> None:
    if parse_dollars(typed_amount) != approval.amount:
        raise AmountMismatch(
            f"Type {format_cents(approval.amount)} to approve it.", field="typedAmount"
        )
    if approval.tenant.status == TenantStatus.SUSPENDED:
        raise TenantSuspended("This tenant is suspended.")
    policy.require_approvable(approval, by, now)
    _require_decider(policy, approval, by)


def _require_decider(policy: AnyPolicy, approval: Approval, by: Approver) -> None:
    """Who approves no more decides nothing. Whoever does, does until the answer is stored.

    Raises NotAnApprover.
    """
    policy.hold_settings(approval)
    members.hold(tenant_id=approval.tenant_id, email=by.email)
    deciders.require(policy, approval, by.email)


@transaction.atomic
def _decline(policy: AnyPolicy, approval_id: str, by: Approver, reason: str, now: datetime) -> None:
    reason = " ".join(reason.split())[:REASON_LENGTH_MAX]
    approval = outcomes.lock_open(policy, approval_id, now=now)
    switches.require_writable(tenant_id=approval.tenant_id)
    _require_decider(policy, approval, by)
    outcomes.close(
        policy,
        approval,
        ApprovalStatus.DECLINED,
        decided_by=by.email,
        now=now,
        decline_reason=reason,
    )
    policy.stop(
        approval,
        code="confirmation_declined",
        message=f"Declined: {reason}",
        actor=by.actor,
        now=now,
    )
    outcomes.record_audit(approval, "declined", by=by.actor, now=now, reason=reason)
