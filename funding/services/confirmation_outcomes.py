"""How a question to the approvers ends, and what that does to its funding.

The first decision wins, by compare-and-swap. Lock order: the funding row, then its confirmation,
then the balance row; everybody who decides or cancels takes the funding row first.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from common import clock
from common.tasks import enqueue_on_commit
from funding.errors import ConfirmationClosed
from funding.models import Confirmation, Decision, FundingSource, FundingTransaction, Trigger
from funding.services import lifecycle, pauses
from funding.states import FundingStatus
from tenants.actors import SYSTEM, Actor
from tenants.services import audit, emails

DECIDED_MAIL = "confirmation_decided"
SUPERSEDED = "confirmation_superseded"


def lock(confirmation_id: str) -> Confirmation:
    """The question with its funding, whose row stays locked until the transaction ends."""
    funding = FundingTransaction.objects.filter(confirmation=confirmation_id)
    funding.select_for_update(no_key=True, of=("self",)).get()
    return _questions().get(pk=confirmation_id)


def lock_open(confirmation_id: str, *, now: datetime) -> Confirmation:
    """The same, of a question that can still be decided. Raises ConfirmationClosed."""
    question = lock(confirmation_id)
    if question.decision != Decision.OPEN or question.expires_at <= now:
        raise _closed(question)
    return question


def decide(
    question: Confirmation,
    decision: Decision,
    *,
    decided_by: str,
    now: datetime,
    decline_reason: str = "",
) -> None:
    """Close `question` and tell the other approvers. Raises ConfirmationClosed.

    A person decides before the end, the clock after it; withdrawing is possible at any time.
    """
    columns = {
        "decision": decision,
        "decided_by": decided_by,
        "decided_at": now,
        "decline_reason": decline_reason,
    }
    still_open = Confirmation.objects.filter(_in_time(decision, now), decision=Decision.OPEN)
    if not still_open.filter(pk=question.pk).update(**columns):
        raise _closed(question)
    for name, value in columns.items():
        setattr(question, name, value)
    _tell_the_others(question, now)


def supersede(*, funding: FundingTransaction, by: str, now: datetime) -> bool:
    """Withdraw the question about a funding that the caller has locked and ends otherwise."""
    question = _questions().filter(funding_id=funding.pk, decision=Decision.OPEN).first()
    if question is None:
        return False
    decide(question, Decision.SUPERSEDED, decided_by=by, now=now)
    return True


def void(question: Confirmation, *, by: Actor, now: datetime) -> None:
    """Withdraw a locked question whose terms have changed, and its funding with it."""
    decide(question, Decision.SUPERSEDED, decided_by=by.id, now=now)
    end_funding(
        question,
        code=SUPERSEDED,
        message="The auto-funding settings changed before anybody approved.",
        actor=by,
        now=now,
    )


def void_open(*, tenant_id: str, by: Actor, now: datetime) -> None:
    """Withdraw the automatic funding that waits for approval.

    For a caller who holds the balance row, so this waits for nobody: a question that somebody is
    deciding at this moment is left alone. That decision came first, or `is_current` refuses it.
    """
    waiting = FundingTransaction.objects.filter(
        tenant_id=tenant_id,
        trigger=Trigger.AUTO_FUNDING,
        status=FundingStatus.AWAITING_CONFIRMATION,
    )
    for funding in waiting.select_for_update(skip_locked=True, no_key=True):
        void(_questions().get(funding=funding), by=by, now=now)


def end_funding(
    question: Confirmation, *, code: str, message: str, now: datetime, actor: Actor = SYSTEM
) -> None:
    """Fail the funding that was asked about. Unless its terms merely changed, automatic funding
    now waits as after any failure."""
    lifecycle.move(
        funding=question.funding,
        target=FundingStatus.FAILED,
        actor=actor,
        now=now,
        reason=message,
        failure_code=code,
        failure_message=message[:300],
    )
    if question.decision != Decision.SUPERSEDED:
        pauses.note_failure(funding=question.funding, now=now)
    enqueue_on_commit("funding.evaluate_auto_funding", tenant_id=question.tenant_id)


def stale() -> QuerySet[Confirmation]:
    """Open questions about automatic funding that today's settings would not start any more."""
    default_source = FundingSource.objects.filter(
        tenant_id=OuterRef("tenant_id"), is_default=True
    ).values("pk")
    settings = "tenant__autofundingconfig__"
    open_ones = Confirmation.objects.filter(
        decision=Decision.OPEN, funding__trigger=Trigger.AUTO_FUNDING
    )
    return open_ones.annotate(
        source_now=Coalesce(settings + "source_id", Subquery(default_source))
    ).exclude(
        **{
            settings + "enabled": True,
            settings + "funding_amount": F("amount"),
            settings + "funding_method": F("funding__method"),
            "source_now": F("source_id"),
        }
    )


def is_current(question: Confirmation) -> bool:
    """Whether its terms still are those of the settings. What people ask for always is."""
    return not stale().filter(pk=question.pk).exists()


def audited(
    question: Confirmation, action: str, *, by: Actor, now: datetime, **details: object
) -> None:
    """Write down that a person did something about the question."""
    audit.record(
        tenant_id=question.tenant_id,
        actor=by,
        action=f"confirmation.{action}",
        subject_id=question.funding_id,
        details={"confirmationId": question.pk, **details},
        now=now,
    )


def _questions() -> QuerySet[Confirmation]:
    return Confirmation.objects.select_related("funding__source", "source", "tenant")


def _in_time(decision: Decision, now: datetime) -> Q:
    if decision == Decision.SUPERSEDED:
        return Q()
    return Q(expires_at__lte=now) if decision == Decision.EXPIRED else Q(expires_at__gt=now)


def _closed(question: Confirmation) -> ConfirmationClosed:
    return ConfirmationClosed(
        "The time to decide is over."
        if question.decision == Decision.OPEN
        else f"This request was {question.decision} before."
    )


def _tell_the_others(question: Confirmation, now: datetime) -> None:
    for address in question.approvers:
        if address != question.decided_by:
            emails.queue(
                tenant_id=question.tenant_id,
                to=address,
                template=DECIDED_MAIL,
                context=_outcome(question, now),
                now=now,
            )


def _outcome(question: Confirmation, now: datetime) -> dict[str, Any]:
    return {
        "tenant_name": question.tenant.name,
        "amount": question.amount,
        "bank_name": question.source.bank_name,
        "last4": question.source.last4,
        "state": question.decision,
        "decided_by": question.decided_by,
        "decided_at": clock.text_of(now),
        "decline_reason": question.decline_reason,
        "funding_transaction_id": question.funding_id,
    }
