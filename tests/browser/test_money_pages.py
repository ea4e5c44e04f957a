"""Pages about the tenant's money, as a person with a browser uses them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from balance import services as ledger
from common.clock import utc_now
from common.days import day_of
from funding.models import AutoFundingConfig, Confirmation, FundingTransaction
from funding.services import auto_funding
from funding.states import FundingStatus
from tests.balance.builders import fund, movement
from tests.browser.conftest import PHONE
from tests.builders import make_auto_funding, make_source

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SHIFTS = """
() => new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) sum += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(sum), 500);
})
"""


class TestAutoFunding:
    def test_says_what_a_rule_does_while_it_is_typed_and_saves_it(self, visit, dana, acme):
        make_source(acme)
        fund(acme, 90_000, now=utc_now() - timedelta(days=5))
        ledger.lock(**movement(acme, 5_000, now=utc_now() - timedelta(days=4)))
        visitor = visit(dana)
        visitor.goto("/dashboard/auto-funding/settings")

        visitor.page.get_by_label("When the balance drops below").fill("200")
        visitor.page.get_by_label("Add", exact=True).fill("500")

        visitor.page.get_by_text("We add $500.00 from JPMorgan Chase").wait_for()
        visitor.page.get_by_text(
            "This rule would have added money once, $500.00 in total"
        ).wait_for()
        visitor.page.get_by_role("button", name="Save").click()
        visitor.page.wait_for_url("**/dashboard/auto-funding")
        assert AutoFundingConfig.objects.get().funding_amount == 50_000
        assert visitor.complaints == []

    def test_needs_no_javascript(self, visit, dana, acme):
        make_source(acme)
        visitor = visit(dana, java_script_enabled=False)
        visitor.page.goto(visitor.address + "/dashboard/auto-funding/settings")
        visitor.page.get_by_label("When the balance drops below").fill("200")
        visitor.page.get_by_label("Add", exact=True).fill("500")

        visitor.page.get_by_role("button", name="Preview").click()

        expect(visitor.page.get_by_text("We add $500.00 from JPMorgan Chase")).to_be_visible()
        assert not AutoFundingConfig.objects.exists()


class TestApproval:
    def test_is_given_on_a_phone_by_typing_the_amount(self, visit, dana, acme):
        make_source(acme)
        make_auto_funding(acme, confirmation_threshold=1)
        auto_funding.evaluate(tenant_id=acme.pk, now=utc_now())
        visitor = visit(dana, viewport=PHONE)
        visitor.goto("/dashboard/approvals")

        visitor.page.get_by_role("link", name="Decide").click()
        visitor.page.get_by_label("Type the amount").fill("500")
        assert visitor.barriers() == []
        assert visitor.sideways_scroll() <= 0
        visitor.page.get_by_role("button", name="Approve $500.00").click()

        visitor.page.get_by_text("by dana@acme.example").wait_for()
        assert FundingTransaction.objects.get().status == FundingStatus.RESERVED
        assert Confirmation.objects.get().decided_by == "dana@acme.example"
        assert visitor.complaints == []


class TestTyping:
    def test_a_routing_number_names_the_bank_and_sends_nothing_else(self, visit, dana, acme):
        visitor = visit(dana)
        visitor.goto("/dashboard/bank-accounts/enter")
        asked = []
        visitor.page.on("request", lambda request: asked.append(request))

        visitor.page.get_by_label("Account number", exact=True).fill("000123456789")
        visitor.page.get_by_label("Routing number").press_sequentially("021000021")

        visitor.page.get_by_text("JPMorgan Chase").wait_for()
        assert asked
        assert [one.url for one in asked if "000123456789" in f"{one.url}{one.post_data}"] == []
        assert visitor.complaints == []

    def test_an_amount_names_its_banking_day(self, visit, dana, acme):
        make_source(acme)
        visitor = visit(dana)
        visitor.goto("/dashboard/topup/")

        visitor.page.get_by_label("Amount in dollars").fill("250")

        visitor.page.get_by_text("$250.00 is expected on").wait_for()
        assert visitor.complaints == []


class TestOverview:
    def test_shifts_nothing_while_it_loads_and_refreshes(self, visit, dana, acme):
        make_source(acme)
        make_auto_funding(acme, enabled=False)
        fund(acme, 12_300, now=utc_now() - timedelta(days=5))
        visitor = visit(dana)
        visitor.goto("/dashboard/?days=90")

        assert visitor.page.evaluate(SHIFTS) < 0.01
        visitor.page.get_by_text("Show as a table").click()
        expect(visitor.page.get_by_role("cell", name="$123.00").first).to_be_visible()
        assert visitor.complaints == []


class TestTransactions:
    def test_keep_their_filters_on_one_line_and_open_ledger_lines(self, visit, dana, acme):
        fund(acme, 12_300, now=utc_now())
        visitor = visit(dana, viewport={"width": 1280, "height": 800})
        visitor.goto("/dashboard/transactions")
        page = visitor.page

        page.get_by_role("link", name="Money in").click()
        page.get_by_role("link", name="Remove filter: Money in").wait_for()

        field = page.get_by_label("To", exact=True).bounding_box()
        buttons = [
            page.get_by_role("button", name="Filter").bounding_box(),
            page.get_by_role("link", name="Clear", exact=True).bounding_box(),
        ]
        for box in buttons:  # their middles are in the line of the field, within a pixel or two
            assert abs(box["y"] + box["height"] / 2 - field["y"] - field["height"] / 2) <= 2
        assert buttons[0]["x"] + buttons[0]["width"] <= buttons[1]["x"]

        page.get_by_role("link", name="Show ledger lines").click()
        expect(page.get_by_role("columnheader", name="Available after")).to_be_visible()
        expect(page.get_by_role("link", name="Remove filter: Money in")).to_be_visible()
        page.get_by_role("link", name="Clear", exact=True).click()
        page.wait_for_url("**/dashboard/transactions?view=ledger")
        assert visitor.complaints == []


class TestStatement:
    def test_on_paper_leaves_the_navigation_out(self, visit, dana, acme):
        fund(acme, 12_300, now=utc_now())
        visitor = visit(dana)
        visitor.goto("/dashboard/statements")
        visitor.page.get_by_role("link", name=f"{day_of(utc_now()):%Y}").first.click()
        visitor.page.get_by_role("heading", name="Summary").wait_for()

        visitor.page.emulate_media(media="print")

        expect(visitor.page.get_by_role("link", name="Overview")).to_be_hidden()
        expect(visitor.page.get_by_text("Closing balance")).to_be_visible()

    def test_says_on_paper_alone_that_it_is_one_page_of_several(self, visit, dana, acme):
        for cents in range(1, 52):
            fund(acme, cents, now=utc_now())
        visitor = visit(dana)
        visitor.goto(f"/dashboard/statements/{day_of(utc_now()):%Y-%m}")
        note = visitor.page.get_by_text("Rows 1–50 of this month.")

        expect(note).to_be_hidden()
        visitor.page.emulate_media(media="print")

        expect(note).to_be_visible()
