"""Who approves a payment, and what the answer does to it. The person who made it never
approves it."""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet

from approvals.errors import OwnPayment
from approvals.policies import ApprovalPolicy, Approver
from payments.models import Payment, PaymentConfirmation, PaymentConfirmationLink
from payments.services import lifecycle
from payments.states import PaymentStatus
from tenants import selectors as tenants
from tenants.actors import Actor
from tenants.models import ActorType, Role


class PaymentApprovalPolicy(ApprovalPolicy[PaymentConfirmation]):
    """A payment above the tenant's own limit is approved by a second person."""

    kind = "payment"
    id_prefix = "pay"
    links = PaymentConfirmationLink

    def approvals(self) -> QuerySet[PaymentConfirmation]:
        return PaymentConfirmation.objects.select_related("payment__recipient", "tenant")

    def lock_subject(self, approval_id: str) -> None:
        payment = Payment.objects.filter(confirmation=approval_id)
        payment.select_for_update(no_key=True, of=("self",)).get()

    def approvers(self, approval: PaymentConfirmation) -> list[str]:
        return approvers(approval.payment)

    def require_approvable(
        self, approval: PaymentConfirmation, by: Approver, _now: datetime
    ) -> None:
        payment = approval.payment
        is_creator = by.actor.type == ActorType.USER and by.actor.id == payment.created_by_id
        if is_creator or by.email.casefold() == _creator_email(payment):
            raise OwnPayment("You made this payment, so somebody else approves it.")

    def go_ahead(self, approval: PaymentConfirmation, _by: Actor, now: datetime) -> None:
        lifecycle.confirm(payment=approval.payment, now=now)

    def stop(
        self, approval: PaymentConfirmation, *, code: str, message: str, actor: Actor, now: datetime
    ) -> None:
        lifecycle.move(
            payment=approval.payment,
            target=PaymentStatus.FAILED,
            actor=actor,
            now=now,
            reason=message,
            failure_code=code,
            failure_message=message[:300],
        )


POLICY = PaymentApprovalPolicy()


def approvers(payment: Payment) -> list[str]:
    """The addresses that would be asked now: those of owners and approvers, without who made the
    payment."""
    creator = _creator_email(payment)
    people = tenants.member_emails(tenant_id=payment.tenant_id, roles=(Role.OWNER, Role.APPROVER))
    return [address for address in people if address.casefold() != creator]


def _creator_email(payment: Payment) -> str | None:
    """The address of the person who made the payment; None if a program did."""
    if payment.created_by_type != ActorType.USER:
        return None
    found = tenants.people_and_keys([payment.created_by_id])
    return found.get(payment.created_by_id, "").casefold() or None
