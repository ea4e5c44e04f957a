"""A second person approves payments above the tenant's own limit (decision 0055)."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import QuerySet

from approvals import outcomes, requests, sweeps
from approvals.errors import OwnPayment
from approvals.links import ApproverLinks, for_sandbox
from approvals.matters import Decider, Matter
from common.money import format_cents
from payments import selectors
from payments.models import (
    Payment,
    PaymentConfirmation,
    PaymentConfirmationLink,
    PaymentSettings,
)
from payments.services import lifecycle
from payments.states import PaymentStatus
from tenants import selectors as tenants
from tenants.actors import Actor
from tenants.models import ActorType, Role

VALID_FOR: timedelta = requests.VALID_FOR


def deadline(*, tenant_id: str, amount: int, now: datetime) -> datetime | None:
    """Until when a payment of `amount` cents waits for approval; None if it needs none."""
    threshold = approval_threshold(tenant_id=tenant_id, now=now)
    return requests.deadline(threshold, amount=amount, now=now)


def approval_threshold(*, tenant_id: str, now: datetime) -> int | None:
    """Cents; payments above it need a second person. None: nobody is asked."""
    row = PaymentSettings.objects.filter(tenant_id=tenant_id).first()
    return row.threshold_at(now) if row else None


def waiting_change(*, tenant_id: str, now: datetime) -> PaymentSettings | None:
    """The settings, if a change of them waits for somebody to agree or for its time."""
    return PaymentSettings.objects.filter(tenant_id=tenant_id, next_at__gt=now).first()


def request(*, payment: Payment, now: datetime) -> PaymentConfirmation:
    """Ask about a payment that requires confirmation, in the caller's transaction."""
    if payment.confirmation_expires_at is None:
        raise ValueError(f"{payment.pk} needs no confirmation")
    threshold = approval_threshold(tenant_id=payment.tenant_id, now=now) or 0
    question = PaymentConfirmation.objects.create(
        tenant_id=payment.tenant_id,
        payment=payment,
        amount=payment.amount,
        reason=_reason(payment, threshold)[: requests.REASON_LENGTH_MAX],
        approvers=approvers(payment),
        expires_at=payment.confirmation_expires_at,
        created_at=now,
    )
    requests.announce(MATTER, question, subject_name="payment_id", now=now)
    return question


def approvers(payment: Payment) -> list[str]:
    """Who would be asked now: the tenant's owners and approvers, but never who made it."""
    creator = _creator_email(payment)
    people = tenants.member_emails(tenant_id=payment.tenant_id, roles=(Role.OWNER, Role.APPROVER))
    return [address for address in people if address.casefold() != creator]


def _reason(payment: Payment, threshold: int) -> str:
    """What an approver should know: the rule, who made it, what for."""
    names = tenants.people_and_keys([payment.created_by_id])
    creator = names.get(payment.created_by_id, payment.created_by_id)
    rule = f"Above {format_cents(threshold)} a second person approves."
    return f"{rule} Ordered by {creator or 'Ballast'}{_for(payment.description)}."


def _for(description: str) -> str:
    return f" for \u201c{description}\u201d" if description else ""


def supersede(*, payment: Payment, by: Actor, now: datetime) -> None:
    """Withdraw the question about a payment that the caller has locked and ends otherwise."""
    if payment.awaits_confirmation:
        outcomes.supersede(MATTER, subject_id=payment.pk, by=by.id, now=now)


def resend(*, tenant_id: str, payment_id: str, actor: Actor, now: datetime) -> list[str]:
    """Mail a new link to each approver who got none in the last ten minutes; returns who.

    Raises NotFound, UnknownConfirmation, ConfirmationClosed, ConfirmationResentRecently.
    """
    selectors.payment(tenant_id=tenant_id, payment_id=payment_id)
    return requests.resend(MATTER, tenant_id=tenant_id, subject_id=payment_id, actor=actor, now=now)


def magic_links(*, tenant_id: str, payment_id: str, now: datetime) -> ApproverLinks:
    """New links to decide about a payment, for a sandbox tenant. Raises UnknownConfirmation."""
    return for_sandbox(MATTER, tenant_id=tenant_id, subject_id=payment_id, now=now)


def sweep(*, now: datetime) -> int:
    """Close what nobody answered, remind of what ends soon; returns how much."""
    return sweeps.expire_due(MATTER, now=now) + sweeps.remind_due(MATTER, now=now)


def _questions() -> QuerySet[PaymentConfirmation]:
    return PaymentConfirmation.objects.select_related("payment__recipient", "tenant")


def _lock_payment(confirmation_id: str) -> None:
    payment = Payment.objects.filter(confirmation=confirmation_id)
    payment.select_for_update(no_key=True, of=("self",)).get()


def _asked_now(question: PaymentConfirmation) -> list[str]:
    return approvers(question.payment)


def _require_second_person(question: PaymentConfirmation, by: Decider, _now: datetime) -> None:
    payment = question.payment
    is_creator = by.actor.type == ActorType.USER and by.actor.id == payment.created_by_id
    if is_creator or by.email.casefold() == _creator_email(payment):
        raise OwnPayment("You made this payment, so somebody else approves it.")


def _creator_email(payment: Payment) -> str | None:
    """Of the person who made it; None where a program did."""
    if payment.created_by_type != ActorType.USER:
        return None
    found = tenants.people_and_keys([payment.created_by_id])
    return found.get(payment.created_by_id, "").casefold() or None


def _confirm(question: PaymentConfirmation, _by: Actor, now: datetime) -> None:
    lifecycle.confirm(payment=question.payment, now=now)


def _stop(
    question: PaymentConfirmation, *, code: str, message: str, actor: Actor, now: datetime
) -> None:
    lifecycle.move(
        payment=question.payment,
        target=PaymentStatus.FAILED,
        actor=actor,
        now=now,
        reason=message,
        failure_code=code,
        failure_message=message[:300],
    )


MATTER = Matter(
    kind="payment",
    subject="payment",
    subject_prefix="pay",
    questions=_questions,
    links=PaymentConfirmationLink,
    lock_subject=_lock_payment,
    approvers=_asked_now,
    allow=_require_second_person,
    go_ahead=_confirm,
    stop=_stop,
)
