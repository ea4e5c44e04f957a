"""Putting a question to people, once more if need be."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction

from approvals import links, outcomes
from approvals.errors import ConfirmationResentRecently, UnknownConfirmation
from approvals.matters import Matter
from approvals.models import Decision, Question
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
    """Until when `amount` cents wait for approval; None if they are not above `threshold`."""
    return now + VALID_FOR if threshold is not None and amount > threshold else None


def announce(matter: Matter, question: Question, *, subject_name: str, now: datetime) -> None:
    """Tell the approvers of a new question by mail, and programs by an event.

    `subject_name` is the field of the event that names what would move. With nobody to ask the
    question waits all the same, for whoever joins before it expires. A program that asks and
    withdraws again and again fills nobody's mailbox: after a while the mails wait, and are dropped
    when withdrawn.
    """
    send_at = now + STAYS_FOR if _withdraws_often(matter, question.tenant_id, now) else now
    links.queue(
        matter,
        question,
        to=question.approvers,
        template=links.REQUEST_MAIL,
        now=now,
        send_at=send_at,
    )
    events.publish_notice(
        tenant_id=question.tenant_id,
        data=ConfirmationRequested(
            confirmation_id=question.pk,
            amount=question.amount,
            expires_at=question.expires_at,
            **{subject_name: question.subject_id},
        ),
        now=now,
    )


@transaction.atomic
def resend(
    matter: Matter, *, tenant_id: str, subject_id: str, actor: Actor, now: datetime
) -> list[str]:
    """Mail a new link to each approver who got none in the last ten minutes; returns who.

    Only those who were asked first are asked again, unless nobody was. Raises
    UnknownConfirmation, ConfirmationClosed, ConfirmationResentRecently.
    """
    known = matter.about(tenant_id=tenant_id, subject_id=subject_id)
    if known is None:
        raise UnknownConfirmation("There is no such request for approval.")
    question = outcomes.lock_open(matter, known.pk, now=now)
    if not question.approvers:
        question.approvers = matter.approvers(question)
        question.save(update_fields=("approvers",))
    recently = _mailed_since(question, now - RESEND_AFTER) - links.put_off(question, now=now)
    waiting = [address for address in question.approvers if address not in recently]
    if not waiting:
        raise ConfirmationResentRecently("Every approver got a link in the last ten minutes.")
    links.queue(matter, question, to=waiting, template=links.REQUEST_MAIL, now=now)
    outcomes.audited(question, "resent", by=actor, now=now, to=waiting)
    return waiting


def _withdraws_often(matter: Matter, tenant_id: str, now: datetime) -> bool:
    withdrawn = matter.questions().filter(
        tenant_id=tenant_id,
        decision=Decision.SUPERSEDED,
        decided_at__gt=now - timedelta(days=1),
    )
    return withdrawn[:WITHDRAWN_A_DAY_MAX].count() == WITHDRAWN_A_DAY_MAX


def _mailed_since(question: Question, since: datetime) -> set[str]:
    mails = OutgoingEmail.objects.filter(
        tenant_id=question.tenant_id,
        template__in=(links.REQUEST_MAIL, links.REMINDER_MAIL),
        context__confirmation_id=question.pk,
        created_at__gt=since,
    )
    return set(mails.values_list("to", flat=True))
