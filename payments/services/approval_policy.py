"""Who approves a payment, and what the answer does to it. The person who made it never
approves it."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db.models import QuerySet

from approvals.errors import OwnPayment
from approvals.new_approvers import refuse_new
from approvals.policies import ApprovalPolicy, Approver
from payments.models import Payment, PaymentConfirmation, PaymentConfirmationLink
from payments.services import lifecycle
from payments.states import PaymentStatus
from tenants import persons
from tenants import selectors as tenants
from tenants.actors import Actor
from tenants.models import ActorType, Mode, Role


class PaymentApprovalPolicy(ApprovalPolicy[PaymentConfirmation]):
    """A payment above the tenant's own limit is approved by a second person."""

    kind = "payment"
    id_prefix = "pay"
    links = PaymentConfirmationLink
    mails_links = False

    def approvals(self) -> QuerySet[PaymentConfirmation]:
        return PaymentConfirmation.objects.select_related("payment__recipient", "tenant")

    def lock_subject(self, approval_id: str) -> None:
        payment = Payment.objects.filter(confirmation=approval_id)
        payment.select_for_update(no_key=True, of=("self",)).get()

    def approvers_of(self, approvals: Collection[PaymentConfirmation]) -> dict[str, list[str]]:
        """Those of owners and approvers, without who made the payment, themselves or by a key."""
        tenant_ids = {approval.tenant_id for approval in approvals}
        people = tenants.people_in(tenant_ids=tenant_ids, roles=(Role.OWNER, Role.APPROVER))
        makers = _makers_of([approval.payment for approval in approvals])
        return {
            approval.pk: [
                email
                for person, email in people.get(approval.tenant_id, ())
                if person not in makers[approval.payment_id]
            ]
            for approval in approvals
        }

    def is_answered_by_link(self, approval: PaymentConfirmation) -> bool:
        """Mailboxes release no money (decision 0169). In the sandbox there is none: programs test
        answers by the links of `GET /sandbox/payments/{id}/confirmation`."""
        return approval.tenant.mode == Mode.SANDBOX

    def require_approvable(
        self, approval: PaymentConfirmation, by: Approver, now: datetime
    ) -> None:
        makers = _makers(approval.payment)
        if persons.behind(by.actor) in makers or _is_address_of(makers, by.email):
            raise OwnPayment("You, or an API key of yours, made this payment.")
        refuse_new(tenant_id=approval.tenant_id, by=by.actor, now=now)

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
    payment, themselves or by an API key."""
    return tenants.member_emails(
        tenant_id=payment.tenant_id,
        roles=(Role.OWNER, Role.APPROVER),
        without=_makers(payment),
    )


def _makers(payment: Payment) -> frozenset[str]:
    """The ids of the people who are, or were, behind what made the payment."""
    return persons.ever_behind(Actor(ActorType(payment.created_by_type), payment.created_by_id))


def _makers_of(payments: Collection[Payment]) -> dict[str, frozenset[str]]:
    """The same for many, by the payment's id. At most one query."""
    actors = {
        payment.pk: Actor(ActorType(payment.created_by_type), payment.created_by_id)
        for payment in payments
    }
    found = persons.ever_behind_each(actors.values())
    return {payment_id: found[actor] for payment_id, actor in actors.items()}


def _is_address_of(people: frozenset[str], email: str) -> bool:
    """Whether it is the address of one of these people."""
    found = tenants.people_and_keys(people).values() if people else ()
    return email.casefold() in {address.casefold() for address in found}
