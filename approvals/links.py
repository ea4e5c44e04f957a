"""Magic links: one per mail and approver, made when the mail is sent, kept only as a digest.

A link shows one approval to whoever holds it, and answers in its approver's name, as long as that
one approves. All links of an approval work until it is closed. Those of payments answer in
the sandbox only (decision 0169).
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction

from approvals import deciders, policies, tokens
from approvals.errors import UnknownApproval
from approvals.models import Approval, ApprovalStatus
from approvals.policies import AnyPolicy
from common import clock, lookalikes
from tenants.models import OutgoingEmail
from tenants.services import emails

REQUEST_MAIL = "confirmation_request"
REMINDER_MAIL = "confirmation_reminder"
# The settings of auto-funding may name people who are in no team.
for template in (REQUEST_MAIL, REMINDER_MAIL):
    emails.is_for_others(template)
_TOKEN_BYTES = 32


@dataclass(frozen=True, kw_only=True)
class ApproverLinks:
    """The new links of one approval, by approver; none once it is closed or has expired."""

    approval: Approval
    urls: dict[str, str]


def mint(policy: AnyPolicy, approval: Approval, *, approver_email: str, now: datetime) -> str:
    """Make a link and return its address, the only copy of its token: a digest is stored."""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    link = policy.links(approver_email=approver_email, digest=tokens.digest(token), created_at=now)
    link.confirmation_id = approval.pk
    link.save(force_insert=True)
    return f"{settings.BASE_URL}/confirm/{token}/"


@transaction.atomic
def for_sandbox(
    policy: AnyPolicy, *, tenant_id: str, subject_id: str, now: datetime
) -> ApproverLinks:
    """New links to answer an approval, as the e-mails would bring them. Raises UnknownApproval.

    If nobody approves there is one link, of a made-up approver, so that a test needs no people.
    """
    approval = policy.about(tenant_id=tenant_id, subject_id=subject_id)
    if approval is None:
        raise UnknownApproval("Nobody is asked about this.")
    is_open = approval.decision == ApprovalStatus.OPEN and now < approval.expires_at
    approvers = deciders.by_link(approval, policy.approvers(approval)) if is_open else []
    return ApproverLinks(
        approval=approval,
        urls={
            address: mint(policy, approval, approver_email=address, now=now)
            for address in approvers
        },
    )


def queue(
    policy: AnyPolicy,
    approval: Approval,
    *,
    to: Iterable[str],
    template: str,
    now: datetime,
    send_at: datetime | None = None,
    **marks: object,
) -> None:
    """Send each of these approvers an e-mail with a link of their own, now or at `send_at`. `marks`
    are kept with the e-mail."""
    for address in to:
        emails.queue(
            tenant_id=approval.tenant_id,
            to=address,
            template=template,
            context={"kind": policy.kind, "confirmation_id": approval.pk, **marks},
            now=now,
            send_at=send_at,
        )


def put_off(approval: Approval, *, now: datetime) -> set[str]:
    """The addresses whose e-mail about this approval was put off and is yet to be sent."""
    mails = OutgoingEmail.objects.filter(
        tenant_id=approval.tenant_id,
        template=REQUEST_MAIL,
        created_at__gte=approval.created_at,
        context__confirmation_id=approval.pk,
        attempts=0,
        next_attempt_at__gt=now,
    )
    return set(mails.values_list("to", flat=True))


def facts(policy: AnyPolicy, approval: Approval) -> dict[str, Any]:
    """What every e-mail about the approval says."""
    return {
        "kind": policy.kind,
        "tenant_name": approval.tenant.name,
        "amount": approval.amount,
        "holder_name": approval.account.account_holder_name,
        "bank_name": approval.account.bank_name,
        "last4": approval.account.last4,
        "warning": lookalikes.warning(
            approval.tenant.name,
            approval.account.account_holder_name,
            approval.account.bank_name,
        ),
    }


@emails.builds_context(REQUEST_MAIL)
@emails.builds_context(REMINDER_MAIL)
def _context(email: OutgoingEmail, now: datetime) -> dict[str, Any] | None:
    """What the e-mail says; None once the approval is closed or its reader approves no more. Each
    attempt makes a new link, if e-mails of this kind bring one."""
    policy = policies.get(email.context["kind"])
    open_ones = policy.approvals().filter(decision=ApprovalStatus.OPEN, expires_at__gt=now)
    approval = open_ones.filter(pk=email.context["confirmation_id"]).first()
    if approval is None or not deciders.decides(policy, approval, email.to):
        return None
    approves_from = policy.approves_from(approval, email.to, now)
    return {
        **facts(policy, approval),
        "approves_from": clock.text_of(approves_from) if approves_from else None,
        "reason": approval.reason,
        "requested_at": clock.text_of(approval.created_at),
        "expires_at": clock.text_of(approval.expires_at),
        "approver_email": email.to,
        "approval_id": approval.pk,
        "link": mint(policy, approval, approver_email=email.to, now=now)
        if policy.mails_links
        else None,
    }
