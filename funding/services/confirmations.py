"""Asking people before a large funding goes ahead: what approvers, and those who wait, can do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from common.money import format_cents, parse_dollars
from common.tasks import enqueue_on_commit
from funding.errors import (
    AmountMismatch,
    ConfirmationClosed,
    ConfirmationResentRecently,
    UnknownConfirmation,
)
from funding.methods import NETWORK_METHOD
from funding.models import (
    AutoFundingConfig,
    Confirmation,
    ConfirmationLink,
    Decision,
    FundingTransaction,
)
from funding.services import confirmation_links as links
from funding.services import confirmation_outcomes as outcomes
from funding.services import lifecycle, notices, sources
from funding.services.confirmation_outcomes import supersede
from funding.states import FundingStatus
from networks import calendar
from tenants import actors
from tenants import selectors as tenants
from tenants.actors import Actor
from tenants.errors import TenantSuspended
from tenants.models import OutgoingEmail, Role, TenantStatus

__all__ = ["approve", "approvers", "decline", "look_up", "request", "resend", "supersede"]

VALID_FOR = timedelta(hours=72)
RESEND_AFTER = timedelta(minutes=10)
REASON_LENGTH_MAX = 200


@dataclass(frozen=True, kw_only=True)
class ConfirmationView:
    """What the page behind a magic link shows. `amount` is cents; `state` is a Decision."""

    tenant_name: str
    amount: int
    bank_name: str
    last4: str
    reason: str
    requested_at: datetime
    expires_at: datetime
    approver_email: str
    state: str
    decided_by: str
    decided_at: datetime | None
    decline_reason: str
    funding_transaction_id: str


def approvers(*, tenant_id: str) -> list[str]:
    """Who is asked now: the addresses in the settings, else the tenant's owners and approvers."""
    configs = AutoFundingConfig.objects.filter(tenant_id=tenant_id)
    named = configs.values_list("confirmation_emails", flat=True).first()
    return named or tenants.member_emails(tenant_id=tenant_id, roles=(Role.OWNER, Role.APPROVER))


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
        reason=reason[:REASON_LENGTH_MAX],
        approvers=approvers(tenant_id=funding.tenant_id),
        expires_at=funding.confirmation_expires_at,
        created_at=now,
    )
    links.queue(question, to=question.approvers, template=links.REQUEST_MAIL, now=now)
    notices.confirmation_requested(confirmation=question, now=now)
    return question


def look_up(*, token: str, now: datetime) -> ConfirmationView | None:
    """What the holder of this link may see; None for a link we never made. Changes nothing."""
    link = links.find(token)
    if link is None:
        return None
    question = link.confirmation
    is_over = question.decision == Decision.OPEN and question.expires_at <= now
    return ConfirmationView(
        tenant_name=question.tenant.name,
        amount=question.amount,
        bank_name=question.source.bank_name,
        last4=question.source.last4,
        reason=question.reason,
        requested_at=question.created_at,
        expires_at=question.expires_at,
        approver_email=link.approver_email,
        state=str(Decision.EXPIRED if is_over else question.decision),
        decided_by=question.decided_by,
        decided_at=question.decided_at,
        decline_reason=question.decline_reason,
        funding_transaction_id=question.funding_id,
    )


def approve(*, token: str, typed_amount: str, now: datetime) -> None:
    """Let the funding go ahead, in the name of the link's approver who typed its amount.

    Raises UnknownConfirmation, ConfirmationClosed, AmountMismatch, TenantSuspended,
    FundingSourceNotVerified, FundingSourceUnusable, FundingMethodNotSupported. A question whose
    terms are no longer those of the settings is withdrawn; then ConfirmationClosed.
    """
    link = _link(token)
    by = actors.approver(link.approver_email)
    with transaction.atomic():
        question = outcomes.lock_open(link.confirmation_id, now=now)
        is_current = outcomes.is_current(question)
        if is_current:
            _approve(question, typed_amount, by, now)
        else:
            outcomes.void(question, by=actors.SYSTEM, now=now)
    if not is_current:
        raise ConfirmationClosed("The terms have changed since this request was made.")


@transaction.atomic
def decline(*, token: str, reason: str, now: datetime) -> None:
    """Stop the funding for good, in the name of the link's approver.

    Raises UnknownConfirmation, ConfirmationClosed.
    """
    link = _link(token)
    by = actors.approver(link.approver_email)
    reason = " ".join(reason.split())[:REASON_LENGTH_MAX]
    question = outcomes.lock_open(link.confirmation_id, now=now)
    outcomes.decide(question, Decision.DECLINED, decided_by=by.id, now=now, decline_reason=reason)
    outcomes.end_funding(
        question, code="confirmation_declined", message=f"Declined: {reason}", actor=by, now=now
    )
    outcomes.audited(question, "declined", by=by, now=now, reason=reason)


@transaction.atomic
def resend(*, tenant_id: str, funding_id: str, actor: Actor, now: datetime) -> list[str]:
    """Mail a new link to each approver who got none in the last ten minutes; returns who.

    Only those who were asked first are asked again, unless nobody was. Raises
    UnknownConfirmation, ConfirmationClosed, ConfirmationResentRecently.
    """
    known = Confirmation.objects.filter(tenant_id=tenant_id, funding_id=funding_id).first()
    if known is None:
        raise UnknownConfirmation("There is no such request for approval.")
    question = outcomes.lock_open(known.pk, now=now)
    if not question.approvers:
        question.approvers = approvers(tenant_id=tenant_id)
        question.save(update_fields=("approvers",))
    recently = _mailed_since(question, now - RESEND_AFTER)
    waiting = [address for address in question.approvers if address not in recently]
    if not waiting:
        raise ConfirmationResentRecently("Every approver got a link in the last ten minutes.")
    links.queue(question, to=waiting, template=links.REQUEST_MAIL, now=now)
    outcomes.audited(question, "resent", by=actor, now=now, to=waiting)
    return waiting


def _approve(question: Confirmation, typed_amount: str, by: Actor, now: datetime) -> None:
    funding = question.funding
    if parse_dollars(typed_amount) != question.amount:
        raise AmountMismatch(f"Type {format_cents(question.amount)} to approve it.")
    if question.tenant.status == TenantStatus.SUSPENDED:
        raise TenantSuspended("This tenant is suspended.")
    sources.require_usable(source=question.source, method=funding.method)
    outcomes.decide(question, Decision.APPROVED, decided_by=by.id, now=now)
    lifecycle.move(
        funding=funding,
        target=FundingStatus.RESERVED,
        actor=by,
        now=now,
        reason="approved",
        next_attempt_at=now,
        expected_availability_date=calendar.expected_availability(
            NETWORK_METHOD[funding.method], now
        ),
    )
    outcomes.audited(question, "approved", by=by, now=now)
    enqueue_on_commit("funding.submit_due")


def _link(token: str) -> ConfirmationLink:
    link = links.find(token)
    if link is None:
        raise UnknownConfirmation("This link is not valid.")
    return link


def _mailed_since(question: Confirmation, since: datetime) -> set[str]:
    mails = OutgoingEmail.objects.filter(
        tenant_id=question.tenant_id,
        template__in=(links.REQUEST_MAIL, links.REMINDER_MAIL),
        context__confirmation_id=question.pk,
        created_at__gt=since,
    )
    return set(mails.values_list("to", flat=True))
