"""A recipient's bank corrects the account."""

from __future__ import annotations

import pytest

from balance import invariants
from payments.errors import DuplicateRecipient
from payments.models import Recipient
from payments.services import orders, recipients
from payments.services.orders import Order
from payments.transfer import PAYMENTS
from tenants.actors import SYSTEM
from tenants.models import AuditEvent, OutgoingEmail
from tests.builders import NOW, make_member
from tests.payments.builders import account, fund, pay, run_due
from transfers.inbox.models import InboundEvent


@pytest.fixture(autouse=True)
def books_balance(db):
    """After every story the books agree with it."""
    yield
    assert invariants.check(now=NOW, full=True).findings == []


def saved(tenant, number="60001"):
    return recipients.save(tenant_id=tenant.pk, details=account(number), actor=SYSTEM, now=NOW)


def pay_to(recipient):
    tenant_id = recipient.tenant_id
    order = Order(amount=10_000, recipient=recipient.pk, method="ach_credit")
    payment = orders.place(tenant_id=tenant_id, mode="sandbox", order=order, actor=SYSTEM, now=NOW)
    run_due(now=NOW)
    payment.refresh_from_db()
    recipient.refresh_from_db()
    return payment


@pytest.fixture
def supplier(acme):
    make_member(acme, email="dana@acme.example")
    fund(acme, 50_000)
    return saved(acme)


def test_payments_go_on_to_the_corrected_account(supplier):
    first, second = pay_to(supplier), pay_to(supplier)

    assert (first.account_version, second.account_version) == (1, 2)
    assert PAYMENTS.account_sent(first).in_clear().account_number == "60001"
    assert PAYMENTS.account_sent(second).in_clear().account_number == "70001"
    assert [first.status, second.status] == ["completed", "completed"]


def test_people_are_told_of_a_recipient_on_the_list(supplier):
    pay_to(supplier)

    (mail,) = OutgoingEmail.objects.filter(template="account_corrected")
    assert (mail.context["is_recipient"], mail.context["account_id"]) == (True, supplier.pk)
    line = AuditEvent.objects.get(action="recipient.corrected")
    assert (line.actor_type, line.details["code"]) == ("network", "C01")


def test_of_an_account_that_came_with_a_payment_only_the_audit_log_tells(acme, supplier):
    payment = pay(acme, to="60001")
    run_due(now=NOW)

    recipient = Recipient.objects.get(pk=payment.recipient_id)
    assert recipient.version == 2
    assert not OutgoingEmail.objects.filter(template="account_corrected").exists()
    assert AuditEvent.objects.filter(action="recipient.corrected").count() == 1


def sent_to(payment):
    return PAYMENTS.account_sent(payment).in_clear()


def test_an_account_that_comes_with_payments_is_used_as_corrected_from_then_on(acme, supplier):
    first = pay(acme, to="60001")
    run_due(now=NOW)
    second = pay(acme, to="60001")
    run_due(now=NOW)

    assert [sent_to(row).account_number for row in (first, second)] == ["60001", "70001"]
    second.refresh_from_db()
    assert (second.recipient.is_saved, second.recipient.version) == (False, 1)
    assert (second.recipient.last4, second.status) == ("0001", "completed")
    assert InboundEvent.objects.filter(kind="corrected").count() == 1


@pytest.mark.parametrize(
    "other", [{"holder_name": "Somebody else"}, {"account_type": "savings"}, {}]
)
def test_another_holder_or_tenant_is_paid_as_given(acme, rival, supplier, other):
    pay_to(supplier)
    tenant = acme if other else rival
    given = account("60001") | other

    row = recipients.for_payment(tenant_id=tenant.pk, given=given, now=NOW)

    assert row.in_clear().account_number == "60001"


def test_of_a_removed_one_it_is_only_noted(supplier):
    order = Order(amount=10_000, recipient=supplier.pk, method="ach_credit")
    tenant_id = supplier.tenant_id
    orders.place(tenant_id=tenant_id, mode="sandbox", order=order, actor=SYSTEM, now=NOW)
    recipients.remove(tenant_id=tenant_id, recipient_id=supplier.pk, actor=SYSTEM, now=NOW)
    run_due(now=NOW)

    supplier.refresh_from_db()
    event = InboundEvent.objects.get(kind="corrected")
    assert (supplier.version, event.note) == (1, "the account was removed")


def test_another_on_the_list_goes_to_a_person(acme, supplier):
    other = saved(acme, "70001")
    pay_to(supplier)

    event = InboundEvent.objects.get(kind="corrected")
    assert (supplier.version, event.outcome) == (1, "review")
    assert other.pk in event.note


@pytest.mark.parametrize("number", ["60001", "70001"])
def test_it_is_saved_once_under_either_number(acme, supplier, number):
    pay_to(supplier)

    with pytest.raises(DuplicateRecipient):
        saved(acme, number)
