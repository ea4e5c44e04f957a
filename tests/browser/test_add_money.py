"""From nothing to money on its way: link an account, add money, see it in the list."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from funding.models import FundingTransaction

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_new_tenant_adds_money(visit, dana, scripts):
    page = open_dashboard(visit, dana, scripts)

    page.get_by_role("navigation", name="Main").get_by_role("link", name="Bank accounts").click()
    page.get_by_role("link", name="Link a sandbox bank").click()
    page.get_by_label("Account holder").fill("Acme Inc")
    page.get_by_role("button", name="Link account").click()
    page.get_by_text("was added.").wait_for()

    page.goto(page.url.replace("bank-accounts", "funding"))
    page.get_by_role("link", name="Add money").click()
    page.get_by_label("Amount in dollars").fill("1,250.00")
    page.get_by_role("button", name="Review").click()
    page.get_by_role("button", name="Add $1,250.00").dblclick()
    expect(page).to_have_url(re.compile("/dashboard/funding/ftx_"))
    page.get_by_text("dana@acme.example").last.wait_for()

    page.locator("main").get_by_role("link", name="Funding").click()
    page.get_by_text("$1,250.00").first.wait_for()
    assert FundingTransaction.objects.count() == 1


def open_dashboard(visit, dana, scripts):
    visitor = visit(dana, java_script_enabled=scripts)
    visitor.page.goto(visitor.address + "/dashboard/")
    return visitor.page
