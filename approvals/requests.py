"""Asking approvers, and asking them again."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction

from approvals import links, outcomes
from approvals.errors import ApprovalResentRecently, UnknownApproval
from approvals.models import Approval, ApprovalStatus
from approvals.policies import AnyPolicy
from tenants.actors import Actor
from tenants.models import OutgoingEmail
from webhooks.bodies import ConfirmationRequested
from webhooks.services import events

VALID_FOR = timedelta(hours=72)
RESEND_AFTER = timedelta(minutes=10)
REASON_LENGTH_MAX = 200
# A tenant that withdrew so many within a day has its next ones mailed only if they stay.
WITHDRAWN_A_DAY_MAX = 20
STAYS_FOR = timedelta(hours=1)


def deadline(threshold: int | None, *, amount: int, now: datetime) -> datetime | None:
    """When an approval of `amount` cents would expire; None if they are not above `threshold`."""
    return now + VALID_FOR if threshold is not None and amount > threshold else None


def announce(policy: AnyPolicy, approval: Approval, *, subject_name: str, now: datetime) -> None:
    """Tell the approvers of a new approval by e-mail, and programs by an event.

    `subject_name` is the event's field for the id of the funding or payment. An approval with
    nobody to ask stays open too, for whoever joins before it expires. A tenant that withdrew
    WITHDRAWN_A_DAY_MAX within a day has the e-mails put off: an approval that is withdrawn within
    STAYS_FOR sends none.
    """
    send_at = now + STAYS_FOR if _withdraws_often(policy, approval.tenant_id, now) else now
    links.queue(
        policy,
        approval,
        to=approval.approvers,
        template=links.REQUEST_MAIL,
        now=now,
        send_at=send_at,
    )
    events.publish_notice(
        tenant_id=approval.tenant_id,
        data=ConfirmationRequested(
            confirmation_id=approval.pk,
            amount=approval.amount,
            expires_at=approval.expires_at,
            **{subject_name: approval.subject_id},
        ),
        now=now,
    )


@transaction.atomic
def resend(
    policy: AnyPolicy, *, tenant_id: str, subject_id: str, actor: Actor, now: datetime
) -> list[str]:
    """E-mail a new link to each approver who got none in the last ten minutes; returns who.

    Only those who were asked first are asked again; if nobody was, those who would be asked now.
    Raises UnknownApproval, ApprovalClosed, ApprovalResentRecently.
    """
    known = policy.about(tenant_id=tenant_id, subject_id=subject_id)
    if known is None:
        raise UnknownApproval("There is no such request for approval.")
    approval = outcomes.lock_open(policy, known.pk, now=now)
    if not approval.approvers:
        approval.approvers = policy.approvers(approval)
        approval.save(update_fields=("approvers",))
    recently = _mailed_since(approval, now - RESEND_AFTER) - links.put_off(approval, now=now)
    waiting = [address for address in approval.approvers if address not in recently]
    if not waiting:
        raise ApprovalResentRecently("Every approver got a link in the last ten minutes.")
    links.queue(policy, approval, to=waiting, template=links.REQUEST_MAIL, now=now)
    outcomes.record_audit(approval, "resent", by=actor, now=now, to=waiting)
    return waiting


def _withdraws_often(policy: AnyPolicy, tenant_id: str, now: datetime) -> bool:
    withdrawn = policy.approvals().filter(
        tenant_id=tenant_id,
        decision=ApprovalStatus.SUPERSEDED,
        decided_at__gt=now - timedelta(days=1),
    )
    return withdrawn[:WITHDRAWN_A_DAY_MAX].count() == WITHDRAWN_A_DAY_MAX


def _mailed_since(approval: Approval, since: datetime) -> set[str]:
    mails = OutgoingEmail.objects.filter(
        tenant_id=approval.tenant_id,
        template__in=(links.REQUEST_MAIL, links.REMINDER_MAIL),
        context__confirmation_id=approval.pk,
        created_at__gt=since,
    )
    return set(mails.values_list("to", flat=True))
