"""Asking people before a large funding goes ahead."""

from __future__ import annotations

from datetime import datetime

from approvals import outcomes, requests
from funding.models import Confirmation, FundingTransaction
from funding.services.approval_policy import POLICY, approvers
from tenants.actors import Actor


def request(*, funding: FundingTransaction, reason: str, now: datetime) -> Confirmation:
    """Ask the approvers of a funding that awaits confirmation, in the caller's transaction.

    Where there is nobody to ask, the approval stays open for an approver who joins before it
    expires.
    """
    if funding.confirmation_expires_at is None:
        raise ValueError(f"{funding.pk} needs no approval")
    approval = Confirmation.objects.create(
        tenant_id=funding.tenant_id,
        funding=funding,
        amount=funding.amount,
        source_id=funding.source_id,
        reason=reason[: requests.REASON_LENGTH_MAX],
        approvers=approvers(tenant_id=funding.tenant_id),
        expires_at=funding.confirmation_expires_at,
        created_at=now,
    )
    requests.announce(POLICY, approval, subject_name="funding_transaction_id", now=now)
    return approval


def supersede(*, funding: FundingTransaction, by: str, now: datetime) -> bool:
    """Withdraw the open approval of a funding that the caller has locked and is about to end.

    `by` is the id of a person, a key or the system. Returns whether there was one.
    """
    return outcomes.supersede(POLICY, subject_id=funding.pk, by=by, now=now)


def resend(*, tenant_id: str, funding_id: str, actor: Actor, now: datetime) -> list[str]:
    """E-mail a new link to each approver who got none in the last ten minutes; returns their
    addresses.

    Raises UnknownApproval, ApprovalClosed, ApprovalResentRecently.
    """
    return requests.resend(POLICY, tenant_id=tenant_id, subject_id=funding_id, actor=actor, now=now)
