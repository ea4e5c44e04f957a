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
from payments.services import exemption, lifecycle
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
    find_link = "SELECT tenant FROM payments_find_link(%(digest)s)"
    mails_links = False

    def approvals(self) -> QuerySet[PaymentConfirmation]:
        return PaymentConfirmation.objects.select_related("payment__recipient", "tenant")

    def lock_subject(self, approval_id: str) -> None:
        payment = Payment.objects.filter(confirmations=approval_id)
        payment.select_for_update(no_key=True, of=("self",)).get()

    def approvers_of(self, approvals: Collection[PaymentConfirmation]) -> dict[str, list[str]]:
        """Those of owners and approvers, without who made the payment, themselves or by a key; or
        the owner who is the only one left."""
        found = _approvers_of([approval.payment for approval in approvals])
        return {approval.pk: found[approval.payment_id] for approval in approvals}

    def is_answered_by_link(self, approval: PaymentConfirmation) -> bool:
        """Mailboxes release no money (decision 0169). In the sandbox there is none: programs test
        answers by the links of `GET /sandbox/payments/{id}/confirmation`."""
        return approval.tenant.mode == Mode.SANDBOX

    def approves_from(
        self, approval: PaymentConfirmation, email: str, now: datetime
    ) -> datetime | None:
        """Who came to approve a short time ago waits. One query."""
        return tenants.new_approvers(tenant_id=approval.tenant_id, now=now).get(email)

    def require_approvable(
        self, approval: PaymentConfirmation, by: Approver, now: datetime
    ) -> None:
        makers = _makers(approval.payment)
        is_maker = persons.behind(by.actor) in makers or _is_address_of(makers, by.email)
        if is_maker and not _is_left_alone(approval.payment, by, now):
            raise OwnPayment(_whose(approval.payment, by))
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
    payment, themselves or by an API key; or the owner who is the only one left (`_last_owners`)."""
    return _approvers_of([payment])[payment.pk]


def others_approve(*, tenant_id: str, makers: Collection[str]) -> bool:
    """Whether the tenant has an owner or approver who is none of these people. One query."""
    people = tenants.people_in(tenant_ids={tenant_id}, roles=(Role.OWNER, Role.APPROVER))
    return any(person not in makers for person, _email in people.get(tenant_id, ()))


def _approvers_of(payments: Collection[Payment]) -> dict[str, list[str]]:
    """The same for many, by the payment's id. Two queries, or four where the only one who approves
    made a payment."""
    tenant_ids = {payment.tenant_id for payment in payments}
    people = tenants.people_in(tenant_ids=tenant_ids, roles=(Role.OWNER, Role.APPROVER))
    makers = _makers_of(payments)
    found: dict[str, list[str]] = {}
    of_the_last: list[Payment] = []
    for payment in payments:
        everybody = people.get(payment.tenant_id, ())
        found[payment.pk] = [who for pk, who in everybody if pk not in makers[payment.pk]]
        if len(everybody) == 1 and not found[payment.pk]:
            of_the_last.append(payment)
    for payment_id, email in _last_owners(of_the_last).items():
        found[payment_id] = [email]
    return found


def _last_owners(payments: Collection[Payment]) -> dict[str, str]:
    """The address of the owner who decides each of these payments although they made it, by the
    payment's id. The caller has seen that nobody else is left who approves; they could order it
    anew.

    That is so for what people are asked about, from the order on or since somebody left whose word
    it may have been (decision 0196), and for what the owner pays by a key that they took over: its
    former owner may pay by it still (decision 0192).
    """
    if not payments:
        return {}
    owners = tenants.people_in(tenant_ids={p.tenant_id for p in payments}, roles=(Role.OWNER,))
    keys = {p.created_by_id for p in payments if p.created_by_type == ActorType.API_KEY}
    takers = persons.takers(keys) if keys else {}
    return {
        payment.pk: email
        for payment in payments
        for person, email in owners.get(payment.tenant_id, ())
        if payment.needs_approval or takers.get(payment.created_by_id) == person
    }


def _whose(payment: Payment, by: Approver) -> str:
    """Why this person, who made the payment, does not approve it."""
    if approvers(payment) == [by.email]:
        return (
            "You made this payment, or had the API key that made it, and others could approve it"
            " until a short time ago. You can approve it a day after the last of them left."
        )
    return "You, or an API key of yours, made this payment."


def _is_left_alone(payment: Payment, by: Approver, now: datetime) -> bool:
    """Whether this person decides a payment that they made, and nobody beside them could be asked
    for a day."""
    person = persons.behind(by.actor)
    if person is None or approvers(payment) != [by.email]:
        return False
    return exemption.is_lone_owner(tenant_id=payment.tenant_id, person=person, now=now)


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
