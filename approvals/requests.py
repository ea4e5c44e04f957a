"""Asking approvers, and asking them again."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction

from approvals import deciders, links, outcomes
from approvals.errors import ApprovalResentRecently, UnknownApproval
from approvals.models import Approval, ApprovalStatus
from approvals.policies import AnyPolicy
from tenants.actors import SYSTEM, Actor
from tenants.models import OutgoingEmail
from webhooks.bodies import ConfirmationRequested
from webhooks.services import events

VALID_FOR = timedelta(hours=72)
RESEND_AFTER = timedelta(minutes=10)
REASON_LENGTH_MAX = 200
# A tenant that withdrew so many within a day has its next ones mailed only if they stay.
WITHDRAWN_A_DAY_MAX = 20
STAYS_FOR = timedelta(hours=1)
# So many e-mails a day to people whom a tenant lets approve what is open; the next ones wait alike.
NEWLY_ASKED_A_DAY_MAX = 100


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

    Those who approve now are asked, whoever was asked at first. Raises UnknownApproval,
    ApprovalClosed, ApprovalResentRecently.
    """
    known = policy.about(tenant_id=tenant_id, subject_id=subject_id)
    if known is None:
        raise UnknownApproval("There is no such request for approval.")
    approval = outcomes.lock_open(policy, known.pk, now=now)
    approvers = policy.approvers(approval)
    recently = _mailed_since(approval, now - RESEND_AFTER) - links.put_off(approval, now=now)
    waiting = [address for address in approvers if address not in recently]
    if not waiting:
        raise ApprovalResentRecently("Every approver got a link in the last ten minutes.")
    _note_asked(approval, deciders.not_asked(approval, waiting))
    links.queue(policy, approval, to=waiting, template=links.REQUEST_MAIL, now=now)
    outcomes.record_audit(approval, "resent", by=actor, now=now, to=waiting)
    return waiting


def ask_newcomers(policy: AnyPolicy, approval: Approval, *, now: datetime) -> list[str]:
    """Ask those who have come to decide a locked open approval since others were asked; returns
    who. Safe to repeat: everybody is asked once, also who left and came back."""
    newcomers = deciders.not_asked(approval, policy.approvers(approval))
    if newcomers:
        send_at = now + STAYS_FOR if _asks_many(approval.tenant_id, now) else now
        _note_asked(approval, newcomers)
        links.queue(
            policy,
            approval,
            to=newcomers,
            template=links.REQUEST_MAIL,
            now=now,
            send_at=send_at,
            is_newcomer=True,
        )
        outcomes.record_audit(approval, "asked", by=SYSTEM, now=now, to=newcomers)
    return newcomers


def _note_asked(approval: Approval, addresses: list[str]) -> None:
    if addresses:
        approval.approvers = [*approval.approvers, *addresses]
        approval.save(update_fields=("approvers",))


def _asks_many(tenant_id: str, now: datetime) -> bool:
    """Whether the tenant had so many asked who came later that a program may be doing it in a
    loop."""
    mails = OutgoingEmail.objects.filter(
        tenant_id=tenant_id,
        template=links.REQUEST_MAIL,
        context__is_newcomer=True,
        created_at__gt=now - timedelta(days=1),
    )
    return mails[:NEWLY_ASKED_A_DAY_MAX].count() == NEWLY_ASKED_A_DAY_MAX


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
