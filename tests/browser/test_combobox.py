"""Choosing whom to pay: by keyboard, by pointer, without scripts, among many."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from common.clock import utc_now
from payments.models import Payment
from payments.services import recipients
from tenants.actors import SYSTEM
from tests.browser.conftest import DESK, PHONE
from tests.builders import NOW
from tests.payments.builders import account, fund

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LAST = "Zeta Works, JPMorgan Chase\N{NO-BREAK SPACE}··9204"


@pytest.fixture
def many(acme):
    """More than the select of the form holds; it lacks the last of them by name."""
    fund(acme, 1_000_000, now=utc_now())
    for number in range(204):
        make(acme, f"55{number:04}", f"Payee {number:03}")
    return make(acme, "559204", "Zeta Works")


def make(tenant, number, holder):
    details = account(number, holder_name=holder)
    return recipients.save(tenant_id=tenant.pk, details=details, actor=SYSTEM, now=NOW)


def opened(visitor):
    visitor.goto("/dashboard/pay/")
    return visitor.page.get_by_role("combobox", name="To")


def chosen(visitor):
    """What the form would send."""
    return visitor.page.locator("select[name=recipient]").evaluate("(select) => select.value")


def test_is_paid_who_was_searched_for_by_keyboard(visit, dana, acme, many):
    visitor = visit(dana)
    field = opened(visitor)
    options = visitor.page.get_by_role("option")
    assert (field.input_value(), chosen(visitor)) == ("", "")

    field.press_sequentially("payee 20")
    expect(options).to_have_count(6)
    expect(field).to_have_attribute("aria-expanded", "true")
    field.press("Enter")  # nothing is pointed at: chooses nobody and sends nothing
    assert chosen(visitor) == ""

    field.fill("9204")
    expect(options).to_have_count(1)
    expect(options).to_contain_text("JPMorgan Chase\N{NO-BREAK SPACE}··9204")
    field.press("ArrowDown")
    expect(field).to_have_attribute("aria-activedescendant", "id_recipient_list_0")
    assert visitor.barriers() == []
    field.press("Enter")
    expect(options).to_have_count(0)
    expect(field).to_have_value(LAST)
    assert chosen(visitor) == many.pk

    visitor.page.get_by_label("Amount in dollars").fill("12")
    visitor.page.get_by_role("button", name="Review").click()
    visitor.page.get_by_text(LAST).wait_for()
    visitor.page.get_by_role("button", name="Change").click()
    expect(field).to_have_value(LAST)
    visitor.page.get_by_role("button", name="Review").click()
    visitor.page.get_by_role("button", name="Pay $12.00").click()
    visitor.page.get_by_text("Money set aside").wait_for()
    assert Payment.objects.get().recipient_id == many.pk
    assert visitor.complaints == []


def test_forgets_who_was_chosen_once_something_else_is_typed(visit, dana, acme, many):
    visitor = visit(dana)
    field = opened(visitor)
    field.fill("zeta")
    visitor.page.get_by_role("option", name="Zeta Works").click()
    assert chosen(visitor) == many.pk

    field.press("End")
    field.press("Backspace")

    assert chosen(visitor) == ""
    visitor.page.get_by_label("Amount in dollars").fill("12")
    visitor.page.get_by_role("button", name="Review").click()
    visitor.page.get_by_text("Choose whom to pay.").wait_for()
    expect(field).to_be_focused()
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_attribute("aria-describedby", "id_recipient_error")


def test_arrows_go_around_and_escape_closes_then_clears(visit, dana, acme, many):
    visitor = visit(dana)
    field, options = opened(visitor), visitor.page.get_by_role("option")

    field.press("ArrowUp")
    expect(options).to_have_count(20)
    expect(field).to_have_attribute("aria-activedescendant", "id_recipient_list_19")
    field.press("ArrowDown")
    expect(field).to_have_attribute("aria-activedescendant", "id_recipient_list_0")
    field.press("Enter")
    assert chosen(visitor) != ""
    field.press("Alt+ArrowDown")
    expect(options).to_have_count(20)
    expect(options.first).to_have_attribute("aria-selected", "true")
    field.press("Escape")
    expect(options).to_have_count(0)
    assert chosen(visitor) != ""
    field.press("Escape")
    assert (field.input_value(), chosen(visitor)) == ("", "")


def test_says_that_nobody_fits_and_that_it_could_not_search(visit, dana, acme, many):
    visitor = visit(dana)
    field = opened(visitor)

    field.fill("nobody")
    visitor.page.locator(".combobox__note").get_by_text("matches “nobody”").wait_for()
    assert visitor.barriers() == []
    visitor.page.route("**/recipients/search*", lambda route: route.abort())
    field.fill("payee")

    visitor.page.locator(".combobox__note").get_by_text("does not work right now").wait_for()


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_is_readable_while_open(visit, dana, acme, many, scheme, viewport):
    visitor = visit(dana, scheme=scheme, viewport=viewport)

    opened(visitor).press("ArrowDown")

    expect(visitor.page.get_by_role("option")).to_have_count(20)
    assert visitor.barriers() == []
    assert visitor.sideways_scroll() <= 0
    assert visitor.complaints == []


def test_without_scripts_it_is_a_select(visit, dana, acme, many):
    visitor = visit(dana, java_script_enabled=False)
    page = visitor.page
    page.goto(visitor.address + "/dashboard/pay/")

    page.get_by_label("To", exact=True).select_option(label="Payee 007, JPMorgan Chase ··0007")
    page.get_by_label("Amount in dollars").fill("12")
    page.get_by_role("button", name="Review").click()

    page.get_by_role("heading", name="Pay $12.00?").wait_for()
    page.get_by_text("Payee 007, ").wait_for()
