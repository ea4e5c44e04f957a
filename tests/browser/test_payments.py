"""Paying somebody new and watching it arrive; a large payment and the second person."""

from __future__ import annotations

import re

import pytest
from django.core import mail
from playwright.sync_api import expect

from common.clock import utc_now
from payments.models import Payment
from payments.services import approval_settings
from tenants.actors import SYSTEM
from tenants.models import Role
from tenants.services import emails
from tests.builders import make_member
from tests.payments.builders import fund, run_due

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def money(acme):
    fund(acme, 1_000_000, now=utc_now())
    return acme


def add_recipient(page):
    """From the empty form of paying to the one with the new recipient chosen."""
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Payments").click()
    page.wait_for_url("**/dashboard/payments")
    page.get_by_role("link", name="Pay", exact=True).click()
    page.get_by_role("link", name="Add a recipient").click()
    page.get_by_label("Account holder").fill("Paper Mill Inc")
    page.get_by_label("Routing number").fill("021000021")
    page.get_by_label("Account number", exact=True).fill("000123456789")
    page.get_by_label("Account number again").fill("000123456789")
    page.get_by_label("Nickname").fill("Paper mill")
    page.get_by_role("button", name="Add recipient").click()
    page.get_by_text("Paper mill was added.").wait_for()


def pay(page, amount):
    page.get_by_label("Amount in dollars").fill(amount)
    page.get_by_label("Description").fill("Invoice 7")
    page.get_by_role("button", name="Review").click()
    page.get_by_role("button", name=f"Pay ${amount}").dblclick()
    expect(page).to_have_url(re.compile("/dashboard/payments/pay_"))


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_paying_somebody_new_once_and_watching_it_arrive(visit, dana, money, scripts):
    visitor = visit(dana, java_script_enabled=scripts)
    page = visitor.page
    page.goto(visitor.address + "/dashboard/")

    add_recipient(page)
    pay(page, "1,250.00")
    page.get_by_text("Money set aside").wait_for()
    run_due(now=utc_now())
    if not scripts:
        page.reload()

    page.get_by_text("Completed: the recipient").wait_for()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    assert Payment.objects.count() == 1
    assert visitor.complaints == []


def test_a_large_payment_waits_for_the_second_person(visit, dana, money):
    checker = make_member(money, email="cfo@acme.example", role=Role.APPROVER)
    approval_settings.set_threshold(
        tenant_id=money.pk, threshold=100_000, actor=SYSTEM, now=utc_now()
    )
    visitor = visit(dana)
    page = visitor.page
    page.goto(visitor.address + "/dashboard/")

    add_recipient(page)
    pay(page, "4,500.00")
    page.get_by_text("Asked: cfo@acme.example.").wait_for()
    run_due(now=utc_now())
    assert Payment.objects.get().status == "created"

    other = visit(checker)
    other.page.goto(other.address + page_for("cfo@acme.example"))
    other.page.get_by_role("heading", name="Pay $4,500.00 to Paper Mill Inc").wait_for()
    other.page.get_by_text("Invoice 7").wait_for()
    other.page.get_by_label("Type the amount to approve it").fill("4500")
    other.page.get_by_role("button", name="Approve $4,500.00").click()
    other.page.get_by_text("by cfo@acme.example").wait_for()
    run_due(now=utc_now())

    page.get_by_text("Completed: the recipient").wait_for()
    expect(page.get_by_text("cfo@acme.example").nth(1)).to_be_visible()
    assert [*visitor.complaints, *other.complaints] == []


def page_for(address):
    """The path of the page that the mail to `address` names; nobody else got one."""
    mail.outbox.clear()
    emails.send_due(now=utc_now())
    (message,) = [each for each in mail.outbox if "/dashboard/approvals/" in str(each.body)]
    assert message.to == [address]
    (path,) = re.findall(r"/dashboard/approvals/cnf_\w+", str(message.body))
    return path
