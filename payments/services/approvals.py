"""A second person approves payments above the tenant's own limit (decision 0055)."""

from __future__ import annotations

from datetime import datetime

from approvals import deciders, outcomes, requests, sweeps
from approvals.links import ApproverLinks, for_sandbox
from common import brand
from common.database.job_doors import by
from common.database.jobs import WORKER
from payments import selectors
from payments.models import Payment, PaymentConfirmation, PaymentSettings
from payments.services import approval_defaults, exemption
from payments.services.approval_policy import POLICY, approvers
from tenants import selectors as tenants
from tenants.actors import Actor


def deadline(
    threshold: int | None, *, amount: int, tenant_id: str, actor: Actor, now: datetime
) -> datetime | None:
    """When the approval of a payment of `amount` cents by this actor would expire; None if that is
    not above `threshold`, or the actor is exempt."""
    until = requests.deadline(threshold, amount=amount, now=now)
    if until and exemption.is_exempt(tenant_id=tenant_id, actor=actor, now=now):
        return None
    return until


def approval_threshold(*, tenant_id: str, mode: str, now: datetime) -> int | None:
    """The limit above which payments need approval, cents; None: no payment needs it. One query,
    and one more for a live tenant whose limit nobody set."""
    row = PaymentSettings.objects.filter(tenant_id=tenant_id).first()
    return approval_defaults.threshold_of_settings(row, tenant_id=tenant_id, mode=mode, now=now)


def threshold_for(*, tenant_id: str, mode: str, actor: Actor, now: datetime) -> int | None:
    """The limit above which what this actor pays needs approval, cents; None: nothing does, or
    nobody is asked about it because the actor is exempt."""
    threshold = approval_threshold(tenant_id=tenant_id, mode=mode, now=now)
    if threshold is None or exemption.is_exempt(tenant_id=tenant_id, actor=actor, now=now):
        return None
    return threshold


def waiting_change(*, tenant_id: str, now: datetime) -> PaymentSettings | None:
    """The settings, if a change of the limit waits; otherwise None."""
    return PaymentSettings.objects.filter(tenant_id=tenant_id, next_at__gt=now).first()


def request(
    *, payment: Payment, rule: str, now: datetime, is_asked_later: bool = False
) -> PaymentConfirmation:
    """Ask the approvers of a payment that needs approval by this rule, a sentence, in the caller's
    transaction. With `is_asked_later` the next sweep asks them."""
    if payment.confirmation_expires_at is None:
        raise ValueError(f"{payment.pk} needs no approval")
    approval = PaymentConfirmation.objects.create(
        tenant_id=payment.tenant_id,
        payment=payment,
        amount=payment.amount,
        reason=_reason(payment, rule)[: requests.REASON_LENGTH_MAX],
        approvers=[] if is_asked_later else approvers(payment),
        expires_at=payment.confirmation_expires_at,
        created_at=now,
    )
    requests.announce(POLICY, approval, subject_name="payment_id", now=now)
    return approval


def _reason(payment: Payment, rule: str) -> str:
    """A text for approvers: the rule, who made the payment, and what for."""
    names = tenants.people_and_keys([payment.created_by_id])
    creator = names.get(payment.created_by_id, payment.created_by_id) or brand.name()
    purpose = f" for \u201c{payment.description}\u201d" if payment.description else ""
    return f"{rule} Ordered by {creator}{purpose}."


def supersede(*, payment: Payment, by: Actor, now: datetime) -> None:
    """Withdraw the open approval of a payment that the caller has locked and is about to end."""
    if payment.awaits_confirmation:
        outcomes.supersede(POLICY, subject_id=payment.pk, by=by.id, now=now)


def deciding(approval: PaymentConfirmation) -> list[str]:
    """The addresses of those who decide an open approval now (decision 0185)."""
    return deciders.by_link(approval, POLICY.approvers(approval))


def resend(*, tenant_id: str, payment_id: str, actor: Actor, now: datetime) -> list[str]:
    """E-mail a new link to each approver who got none in the last ten minutes; returns their
    addresses.

    Raises NotFound, UnknownApproval, ApprovalClosed, ApprovalResentRecently.
    """
    selectors.payment(tenant_id=tenant_id, payment_id=payment_id)
    return requests.resend(POLICY, tenant_id=tenant_id, subject_id=payment_id, actor=actor, now=now)


def magic_links(*, tenant_id: str, payment_id: str, now: datetime) -> ApproverLinks:
    """New links for answering the approval of a sandbox tenant's payment. Raises
    UnknownApproval."""
    return for_sandbox(POLICY, tenant_id=tenant_id, subject_id=payment_id, now=now)


@by(WORKER)
def sweep(*, now: datetime) -> int:
    """Expire approvals that nobody answered, remind of those that expire soon, and ask who has come
    to decide the others; returns how many."""
    over = sweeps.expire_due(POLICY, now=now)
    return over + sweeps.remind_due(POLICY, now=now) + sweeps.ask_newcomers(POLICY, now=now)
