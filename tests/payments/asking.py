"""A payment that a second person is asked about, and the answers."""

from __future__ import annotations

from datetime import timedelta

from approvals import answers, links
from approvals.policies import Approver
from payments.models import PaymentConfirmation
from payments.services import orders
from payments.services.approval_policy import POLICY
from tenants.actors import api_key, user
from tests.builders import NOW
from tests.payments.builders import account

HOUR = timedelta(hours=1)
END = NOW + 72 * HOUR
OWNER = "owner@acme.example"
CHECKER = "checker@acme.example"
DANA, LEE = "dana@acme.example", "lee@acme.example"
PROGRAM = api_key("key_1")


def order(tenant, amount=5_000, *, to="Supplier LLC", actor=PROGRAM, wait=False, now=NOW):
    return orders.place(
        tenant_id=tenant.pk,
        mode=tenant.mode,
        order=orders.Order(amount=amount, recipient=account(holder_name=to), wait_for_funds=wait),
        actor=actor,
        now=now,
    )


def pay_account(tenant, actor, amount=24_000, *, to="000222", now=NOW):
    """A payment to the account of this number, which is new unless somebody saved it."""
    return orders.place(
        tenant_id=tenant.pk,
        mode=tenant.mode,
        order=orders.Order(amount=amount, recipient=account(to)),
        actor=actor,
        now=now,
    )


def approval_of(payment):
    return PaymentConfirmation.objects.get(payment=payment)


def token_of(payment, email=OWNER):
    address = links.mint(POLICY, approval_of(payment), approver_email=email, now=NOW)
    return address.rstrip("/").rpartition("/")[2]


def approve(payment, *, email=OWNER, typed="$50.00", now=NOW):
    answers.approve(token=token_of(payment, email), typed_amount=typed, now=now)


def decline(payment, *, email=OWNER, now=NOW):
    answers.decline(token=token_of(payment, email), reason="Not this one", now=now)


def approve_signed_in(payment, person, *, now=NOW):
    answers.approve_signed_in(
        tenant_id=payment.tenant_id,
        approval_id=approval_of(payment).pk,
        by=Approver(email=person.email, actor=user(person.pk)),
        typed_amount="50",
        now=now,
    )


def decline_signed_in(payment, person, *, now=NOW):
    answers.decline_signed_in(
        tenant_id=payment.tenant_id,
        approval_id=approval_of(payment).pk,
        by=Approver(email=person.email, actor=user(person.pk)),
        reason="Not this one",
        now=now,
    )


def cancel(payment, *, actor=PROGRAM):
    return orders.cancel(tenant_id=payment.tenant_id, payment_id=payment.pk, actor=actor, now=NOW)


def outcome(payment):
    approval = approval_of(payment)
    payment.refresh_from_db()
    return approval.decision, approval.decided_by, payment.status, payment.failure_code
