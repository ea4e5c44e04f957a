"""How a question to the approvers ends.

The first decision wins, by compare-and-swap. Lock order: the row it is about, then the question,
then the balance row; everybody who decides or cancels takes the first one first.
"""

from __future__ import annotations

from datetime import datetime

from django.db.models import Q

from approvals import links
from approvals.errors import ConfirmationClosed
from approvals.matters import Matter
from approvals.models import Decision, Question
from common import clock
from tenants import selectors as tenants
from tenants.actors import Actor
from tenants.services import audit, emails

DECIDED_MAIL = "confirmation_decided"


def lock(matter: Matter, confirmation_id: str) -> Question:
    """The question with its subject, whose row stays locked until the transaction ends."""
    matter.lock_subject(confirmation_id)
    question: Question = matter.questions().get(pk=confirmation_id)
    return question


def lock_open(matter: Matter, confirmation_id: str, *, now: datetime) -> Question:
    """The same, of a question that can still be decided. Raises ConfirmationClosed."""
    question = lock(matter, confirmation_id)
    if question.decision != Decision.OPEN or question.expires_at <= now:
        raise closed(question)
    return question


def decide(
    matter: Matter,
    question: Question,
    decision: Decision,
    *,
    decided_by: str,
    now: datetime,
    decline_reason: str = "",
) -> None:
    """Close `question` and tell the other approvers, if they know of it. Raises ConfirmationClosed.

    A person decides before the end, the clock after it; withdrawing is possible at any time.
    """
    columns = {
        "decision": decision,
        "decided_by": decided_by,
        "decided_at": now,
        "decline_reason": decline_reason,
    }
    still_open = matter.questions().filter(_in_time(decision, now), decision=Decision.OPEN)
    if not still_open.filter(pk=question.pk).update(**columns):
        raise closed(question)
    for name, value in columns.items():
        setattr(question, name, value)
    _tell_the_others(matter, question, now)


def supersede(matter: Matter, *, subject_id: str, by: str, now: datetime) -> bool:
    """Withdraw the question about what the caller has locked and ends otherwise; `by` is an id."""
    open_ones = matter.questions().filter(decision=Decision.OPEN)
    question = open_ones.filter(**{f"{matter.subject}_id": subject_id}).first()
    if question is None:
        return False
    name = tenants.people_and_keys([by]).get(by, by)
    decide(matter, question, Decision.SUPERSEDED, decided_by=name, now=now)
    return True


def audited(
    question: Question, action: str, *, by: Actor, now: datetime, **details: object
) -> None:
    """Write down that a person did something about the question."""
    account = question.account
    audit.record(
        tenant_id=question.tenant_id,
        actor=by,
        action=f"confirmation.{action}",
        subject_id=question.subject_id,
        details={
            "confirmationId": question.pk,
            "amount": question.amount,
            "direction": question.direction,
            "bankName": account.bank_name,
            "last4": account.last4,
            **details,
        },
        now=now,
    )


def closed(question: Question) -> ConfirmationClosed:
    """Why nobody can decide it any more."""
    return ConfirmationClosed(
        "The time to decide is over."
        if question.decision == Decision.OPEN
        else f"This request was {question.decision} before."
    )


def _in_time(decision: Decision, now: datetime) -> Q:
    if decision == Decision.SUPERSEDED:
        return Q()
    return Q(expires_at__lte=now) if decision == Decision.EXPIRED else Q(expires_at__gt=now)


def _tell_the_others(matter: Matter, question: Question, now: datetime) -> None:
    outcome = {
        **links.facts(matter, question),
        "state": question.decision,
        "decided_by": question.decided_by,
        "decided_at": clock.text_of(now),
        "decline_reason": question.decline_reason,
        "subject_id": question.subject_id,
    }
    unconcerned = {question.decided_by, *links.put_off(question, now=now)}
    for address in question.approvers:
        if address not in unconcerned:
            emails.queue(
                tenant_id=question.tenant_id,
                to=address,
                template=DECIDED_MAIL,
                context=outcome,
                now=now,
            )
