"""The search that Ctrl+K opens, by keyboard, on a phone, and without JavaScript."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from payments.services import recipients
from tenants.actors import SYSTEM
from tests.balance.builders import fund
from tests.browser.conftest import PHONE
from tests.builders import NOW, make_funding, make_source, make_staff
from tests.payments.builders import account, pay

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def payment(acme):
    fund(acme, 10_000_000)
    make_funding(acme, make_source(acme), amount=120_000)
    for number, name in enumerate(("Harbor Freight LLC", "Old Harbor Inc")):
        details = account(f"7700{number}", holder_name=name)
        recipients.save(tenant_id=acme.pk, details=details, actor=SYSTEM, now=NOW)
    return pay(acme, 120_000)


def field(visitor):
    return visitor.page.get_by_role("combobox", name="Page, recipient, amount or ID")


def chosen(visitor):
    return visitor.page.locator("dialog").get_by_role("option", selected=True)


def opened(visitor, path="/dashboard/payments"):
    visitor.goto(path)
    visitor.page.keyboard.press("Control+k")
    expect(field(visitor)).to_be_focused()
    expect(chosen(visitor)).to_have_text("Overview")
    return visitor


def typed(visitor, text, *, finds):
    field(visitor).fill(text)
    expect(chosen(visitor)).to_contain_text(finds)


class TestByKeyboard:
    def test_an_amount_is_found_chosen_and_opened(self, visit, dana, payment):
        visitor = opened(visit(dana))
        typed(visitor, "1,200", finds="$1,200.00 to Supplier LLC")
        expect(field(visitor)).to_have_attribute("aria-expanded", "true")
        first = chosen(visitor).get_attribute("id")
        expect(field(visitor)).to_have_attribute("aria-activedescendant", first)

        visitor.page.keyboard.press("ArrowDown")
        expect(chosen(visitor)).to_contain_text("$1,200.00 from JPMorgan Chase")
        visitor.page.keyboard.press("ArrowDown")
        expect(chosen(visitor)).to_have_attribute("id", first)
        visitor.page.keyboard.press("ArrowUp")
        visitor.page.keyboard.press("ArrowUp")
        visitor.page.keyboard.press("Enter")

        visitor.page.wait_for_url(f"**/dashboard/payments/{payment.pk}")
        assert visitor.complaints == []

    def test_enter_waits_for_what_was_typed_last(self, visit, dana, payment):
        visitor = opened(visit(dana))

        visitor.page.keyboard.type("audit")
        visitor.page.keyboard.press("Enter")

        visitor.page.wait_for_url("**/dashboard/audit-log")

    def test_escape_closes_it_and_gives_the_focus_back(self, visit, dana, payment):
        visitor = visit(dana)
        visitor.goto("/dashboard/payments")
        button = visitor.page.locator(".sidebar").get_by_role("link", name="Search")
        button.click()
        expect(field(visitor)).to_be_focused()

        visitor.page.keyboard.press("Escape")

        expect(field(visitor)).to_be_hidden()
        expect(button).to_be_focused()

    def test_says_how_much_it_found(self, visit, dana, payment):
        visitor = opened(visit(dana))
        said = visitor.page.locator("dialog [role=status]")

        typed(visitor, "harbor", finds="Harbor Freight LLC")
        expect(said).to_have_text("2 results")
        field(visitor).fill("quietwater")
        expect(said).to_have_text("Nothing found")
        expect(field(visitor)).to_have_attribute("aria-expanded", "false")
        visitor.page.keyboard.press("Enter")

        expect(field(visitor)).to_be_visible()
        assert visitor.barriers() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [None, PHONE], ids=["desk", "phone"])
def test_has_no_barriers(visit, dana, payment, scheme, viewport):
    options = {"viewport": viewport} if viewport else {}
    visitor = opened(visit(dana, scheme=scheme, **options))
    assert visitor.barriers() == []
    typed(visitor, "1200", finds="$1,200.00 to Supplier LLC")

    assert visitor.barriers() == []
    assert visitor.sideways_scroll() <= 0
    assert visitor.complaints == []


def test_is_a_page_without_javascript(visit, dana, payment):
    visitor = visit(dana, java_script_enabled=False)
    visitor.page.goto(visitor.address + "/dashboard/payments")
    visitor.page.locator(".sidebar").get_by_role("link", name="Search").click()

    visitor.page.get_by_role("textbox", name="Search").fill("harbor")
    visitor.page.get_by_role("button", name="Search").click()

    expect(visitor.page.get_by_role("heading", name="Recipients")).to_be_visible()
    expect(visitor.page.get_by_role("link", name="Old Harbor Inc")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [None, PHONE], ids=["desk", "phone"])
def test_finds_from_every_page_of_the_desk(visit, acme, payment, scheme, viewport):
    options = {"viewport": viewport} if viewport else {}
    visitor = visit(make_staff("sam@staff.example"), scheme=scheme, **options)
    visitor.goto("/admin/payments/payment/")
    visitor.page.keyboard.press("Control+k")
    text = visitor.page.get_by_role("combobox", name="Page, tenant, ID, amount or e-mail")
    expect(text).to_be_focused()
    expect(chosen(visitor)).to_have_text("Home")
    assert visitor.barriers() == []
    text.fill("1,200")
    expect(chosen(visitor)).to_contain_text("$1,200.00 by ACH transfer, ready to send")

    assert visitor.barriers() == []
    visitor.page.keyboard.press("Enter")

    visitor.page.wait_for_url(f"**/admin/desk/payments/{payment.pk}/")
    assert visitor.complaints == []
