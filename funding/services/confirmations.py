"""Asking people before a large funding goes ahead."""

from __future__ import annotations

from datetime import datetime

from approvals import outcomes, requests
from funding.models import Confirmation, FundingTransaction
from funding.services.confirmation_outcomes import MATTER, approvers
from tenants.actors import Actor

__all__ = ["approvers", "request", "resend", "supersede"]


def request(*, funding: FundingTransaction, reason: str, now: datetime) -> Confirmation:
    """Ask the approvers about a funding that awaits confirmation, in the caller's transaction.

    With nobody to ask the question waits all the same, for whoever joins before it expires.
    """
    if funding.confirmation_expires_at is None:
        raise ValueError(f"{funding.pk} needs no confirmation")
    question = Confirmation.objects.create(
        tenant_id=funding.tenant_id,
        funding=funding,
        amount=funding.amount,
        source_id=funding.source_id,
        reason=reason[: requests.REASON_LENGTH_MAX],
        approvers=approvers(tenant_id=funding.tenant_id),
        expires_at=funding.confirmation_expires_at,
        created_at=now,
    )
    requests.announce(MATTER, question, subject_name="funding_transaction_id", now=now)
    return question


def supersede(*, funding: FundingTransaction, by: str, now: datetime) -> bool:
    """Withdraw the question about a funding that the caller has locked and ends otherwise."""
    return outcomes.supersede(MATTER, subject_id=funding.pk, by=by, now=now)


def resend(*, tenant_id: str, funding_id: str, actor: Actor, now: datetime) -> list[str]:
    """Mail a new link to each approver who got none in the last ten minutes; returns who.

    Raises UnknownConfirmation, ConfirmationClosed, ConfirmationResentRecently.
    """
    return requests.resend(MATTER, tenant_id=tenant_id, subject_id=funding_id, actor=actor, now=now)
