"""How an approval ends: it is approved, declined, withdrawn, or it expires.

The first outcome wins, by compare-and-swap. Lock order: the funding or payment, then the approval,
then the balance row. Whoever answers or cancels begins with the first one.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import Q

from approvals import deciders, links, policies
from approvals.errors import ApprovalClosed
from approvals.models import Approval, ApprovalStatus
from approvals.policies import AnyPolicy
from common import clock
from tenants import selectors as tenants
from tenants.actors import Actor
from tenants.models import OutgoingEmail
from tenants.services import audit, emails

DECIDED_MAIL = "confirmation_decided"
emails.is_for_others(DECIDED_MAIL)


def lock(policy: AnyPolicy, approval_id: str) -> Approval:
    """Lock the funding or payment until the transaction ends, and read its approval."""
    policy.lock_subject(approval_id)
    approval: Approval = policy.approvals().get(pk=approval_id)
    return approval


def lock_open(policy: AnyPolicy, approval_id: str, *, now: datetime) -> Approval:
    """Lock as `lock` does, and require that it can still be answered. Raises ApprovalClosed."""
    approval = lock(policy, approval_id)
    if approval.decision != ApprovalStatus.OPEN or approval.expires_at <= now:
        raise closed(approval)
    return approval


def close(
    policy: AnyPolicy,
    approval: Approval,
    status: ApprovalStatus,
    *,
    decided_by: str,
    now: datetime,
    decline_reason: str = "",
) -> None:
    """Give `approval` its outcome and tell the others who decide, if they know of it.

    People answer before it expires; it ends as expired only afterwards; it can be withdrawn at any
    time. Raises ApprovalClosed if it has an outcome, or this one comes too early or too late.
    """
    columns = {
        "decision": status,
        "decided_by": decided_by,
        "decided_at": now,
        "decline_reason": decline_reason,
    }
    still_open = policy.approvals().filter(_in_time(status, now), decision=ApprovalStatus.OPEN)
    if not still_open.filter(pk=approval.pk).update(**columns):
        raise closed(approval)
    for name, value in columns.items():
        setattr(approval, name, value)
    _tell_the_others(policy, approval, now)


def supersede(policy: AnyPolicy, *, subject_id: str, by: str, now: datetime) -> bool:
    """Withdraw the open approval of a subject that the caller has locked and is about to end.

    `by` is the id of a person, a key or the system. Returns whether there was one.
    """
    open_ones = policy.approvals().filter(decision=ApprovalStatus.OPEN)
    approval = open_ones.filter(**{f"{policy.kind}_id": subject_id}).first()
    if approval is None:
        return False
    name = tenants.people_and_keys([by]).get(by, by)
    close(policy, approval, ApprovalStatus.SUPERSEDED, decided_by=name, now=now)
    return True


def record_audit(
    approval: Approval, action: str, *, by: Actor, now: datetime, **details: object
) -> None:
    """Write to the audit log what a person did: `confirmation.<action>`."""
    account = approval.account
    audit.record(
        tenant_id=approval.tenant_id,
        actor=by,
        action=f"confirmation.{action}",
        subject_id=approval.subject_id,
        details={
            "confirmationId": approval.pk,
            "amount": approval.amount,
            "direction": approval.direction,
            "bankName": account.bank_name,
            "last4": account.last4,
            **details,
        },
        now=now,
    )


def closed(approval: Approval) -> ApprovalClosed:
    """The refusal that says why nobody can answer it any more."""
    return ApprovalClosed(
        "The time to decide is over."
        if approval.decision == ApprovalStatus.OPEN
        else f"This request was {approval.decision} before."
    )


def _in_time(status: ApprovalStatus, now: datetime) -> Q:
    if status == ApprovalStatus.SUPERSEDED:
        return Q()
    return Q(expires_at__lte=now) if status == ApprovalStatus.EXPIRED else Q(expires_at__gt=now)


def _tell_the_others(policy: AnyPolicy, approval: Approval, now: datetime) -> None:
    outcome = {
        **links.facts(policy, approval),
        "state": approval.decision,
        "decided_by": approval.decided_by,
        "decided_at": clock.text_of(now),
        "decline_reason": approval.decline_reason,
        "subject_id": approval.subject_id,
    }
    unconcerned = {approval.decided_by, *links.put_off(approval, now=now)}
    for address in deciders.asked_and_still(policy, approval):
        if address not in unconcerned:
            emails.queue(
                tenant_id=approval.tenant_id,
                to=address,
                template=DECIDED_MAIL,
                context=outcome,
                now=now,
            )


@emails.builds_context(DECIDED_MAIL)
def _decided_context(email: OutgoingEmail, _now: datetime) -> dict[str, Any] | None:
    """What the e-mail says; None if its approver is none any more."""
    policy = policies.get(email.context["kind"])
    approval = policy.about(tenant_id=str(email.tenant_id), subject_id=email.context["subject_id"])
    if approval is None or not deciders.decides(policy, approval, email.to):
        return None
    context: dict[str, Any] = email.context
    return context
