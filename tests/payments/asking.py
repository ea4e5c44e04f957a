"""A payment that a second person is asked about, and the answers."""

from __future__ import annotations

from datetime import timedelta

from approvals import decisions, links
from approvals.matters import Decider
from payments.models import PaymentConfirmation
from payments.services import approvals, orders
from tenants.actors import api_key, user
from tests.builders import NOW
from tests.payments.builders import account

HOUR = timedelta(hours=1)
END = NOW + 72 * HOUR
OWNER = "owner@acme.example"
CHECKER = "checker@acme.example"
PROGRAM = api_key("key_1")


def order(tenant, amount=5_000, *, actor=PROGRAM, wait=False, now=NOW):
    return orders.place(
        tenant_id=tenant.pk,
        mode=tenant.mode,
        order=orders.Order(amount=amount, recipient=account(), wait_for_funds=wait),
        actor=actor,
        now=now,
    )


def question_of(payment):
    return PaymentConfirmation.objects.get(payment=payment)


def token_of(payment, email=OWNER):
    address = links.mint(approvals.MATTER, question_of(payment), approver_email=email, now=NOW)
    return address.rstrip("/").rpartition("/")[2]


def approve(payment, *, email=OWNER, typed="$50.00", now=NOW):
    decisions.approve(token=token_of(payment, email), typed_amount=typed, now=now)


def decline(payment, *, email=OWNER, now=NOW):
    decisions.decline(token=token_of(payment, email), reason="Not this one", now=now)


def approve_signed_in(payment, person, *, now=NOW):
    decisions.approve_signed_in(
        tenant_id=payment.tenant_id,
        confirmation_id=question_of(payment).pk,
        by=Decider(email=person.email, actor=user(person.pk)),
        typed_amount="50",
        now=now,
    )


def cancel(payment, *, actor=PROGRAM):
    return orders.cancel(tenant_id=payment.tenant_id, payment_id=payment.pk, actor=actor, now=NOW)


def outcome(payment):
    question = question_of(payment)
    payment.refresh_from_db()
    return question.decision, question.decided_by, payment.status, payment.failure_code
