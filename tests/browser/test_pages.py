"""Every page, light and dark, wide and narrow: readable by everybody, and silent."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from balance import services as ledger
from common.clock import utc_now
from funding.services import sources
from funding.states import FundingStatus
from funding.transfer import FUNDING
from payments.models import Recipient
from payments.services import approval_settings, orders, recipients
from tenants.actors import SYSTEM, staff
from tests.balance.builders import fund, movement
from tests.browser.conftest import PHONE, in_every_look, in_looks
from tests.builders import NOW, make_auto_funding, make_endpoint, make_funding, make_source
from tests.funding.agreeing import agree
from tests.funding.builders import top_up
from tests.networks.scripted import ScriptedNetwork, message
from tests.payments.builders import account, pay, run_due
from transfers import submission
from transfers.inbox import arrivals, messages

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(600),
]

PUBLIC = (
    "/accounts/login/",
    "/accounts/password/reset/",
    "/docs/",
    "/docs/guide",
    "/docs/errors",
    "/docs/webhooks",
)
SIGNED_IN = (
    "/dashboard/",
    "/dashboard/transactions",
    "/dashboard/statements",
    "/dashboard/funding",
    "/dashboard/auto-funding",
    "/dashboard/approvals",
    "/dashboard/auto-funding/settings",
    "/dashboard/bank-accounts",
    "/dashboard/bank-accounts/enter",
    "/dashboard/bank-accounts/pick",
    "/dashboard/bank-accounts/link",
    "/dashboard/bank-accounts/authorizations",
    "/dashboard/topup/",
    "/dashboard/pay/",
    "/dashboard/payments",
    "/dashboard/payments/approval",
    "/dashboard/payments/approval/change",
    "/dashboard/payments/limits",
    "/dashboard/payments/limits/edit",
    "/dashboard/payments/limits/cool-down",
    "/dashboard/payments/limits/change",
    "/dashboard/recipients",
    "/dashboard/recipients/new",
    "/dashboard/api-keys",
    "/dashboard/api-keys/new",
    "/dashboard/webhooks",
    "/dashboard/webhooks/new",
    "/dashboard/events",
    "/dashboard/developers",
    "/dashboard/requests",
    "/accounts/password/change/",
    "/dashboard/team",
    "/dashboard/team/invite",
    "/dashboard/settings",
    "/dashboard/settings/returned-top-ups",
    "/dashboard/notifications",
    "/dashboard/audit-log",
    "/accounts/profile/",
    "/accounts/2fa/",
    "/accounts/sessions/",
)


@pytest.fixture
def busy_acme(acme):
    """A tenant with something on every page."""
    source = make_source(acme)
    for status in FundingStatus:
        make_funding(acme, source, status=status, amount=123_456_789)
    make_auto_funding(acme, paused_reason="too_many_firings")
    make_endpoint(acme, url=f"https://hooks.example.com/{'path' * 30}")
    for _ in range(30):
        fund(acme, 123_456_789, description="Top-up" + "withoutspaces" * 6)
    ledger.lock(**movement(acme, 20_000))
    make_payments(acme)
    return acme


def make_payments(tenant):
    """To a recipient with a long name: one of each status, one that waits for a second person."""
    name = "Northwind Traders and Sons Holding Company " + "withoutspaces" * 4
    supplier = recipients.save(
        tenant_id=tenant.pk, details=account(holder_name=name), actor=SYSTEM, now=NOW
    )
    for number in ("20002", "10003", "000123456789"):
        pay(tenant, 123_456, to=account(number, holder_name=name))
    run_due()
    approval_settings.set_threshold(tenant_id=tenant.pk, threshold=0, actor=SYSTEM, now=NOW)
    order = orders.Order(amount=99_999_999, recipient=supplier.pk, wait_for_funds=True)
    orders.place(tenant_id=tenant.pk, mode=tenant.mode, order=order, actor=SYSTEM, now=utc_now())
    approval_settings.set_threshold(  # the tenant has an owner: it waits
        tenant_id=tenant.pk, threshold=None, actor=staff("usr_support"), now=utc_now()
    )


def make_returned(tenant):
    """A top-up that came back, later than was said, after its account was corrected."""
    source = make_source(tenant, account_number="30001")  # its bank says nothing by itself
    row = top_up(tenant, source=source, now=utc_now())
    submission.submit_due(FUNDING, now=utc_now())
    trace = "091000010000007"
    said = (
        message(row, "accepted", id="w1", trace_number=trace),
        message(row, "rescheduled", id="w2", settlement_date=utc_now().date()),
        message(row, "settled", id="w3", settlement_date=utc_now().date()),
        message(row, "returned", id="w4", code="R01"),
        message(row, "return_dishonored", id="w5", code="R68"),
        message(row, "return_contested", id="w6", code="R73"),
    )
    for each in said:
        arrivals.collect(network=ScriptedNetwork(each), id_prefix="ftx_", now=utc_now())
        messages.apply_new(FUNDING, now=utc_now())
    row.refresh_from_db()
    assert row.returned
    return row


def looked_at(visitor, paths):
    """What is wrong with each page, by path; nothing wrong leaves no entry."""
    wrong = {}
    for path in paths:
        visitor.goto(path)
        found = [*visitor.barriers(), *visitor.complaints]
        if (overflow := visitor.sideways_scroll()) > 0:
            found.append(f"{overflow} px too wide")
        if found:
            wrong[path] = found
        visitor.complaints.clear()
    return wrong


class TestNothingIsWrong:
    @in_every_look
    def test_with_public_pages(self, visit, scheme, viewport):
        assert looked_at(visit(scheme=scheme, viewport=viewport), PUBLIC) == {}

    @in_every_look
    def test_with_pages_of_a_busy_tenant(self, visit, dana, acme, busy_acme, scheme, viewport):
        revoked = make_source(acme, account_number="10007")
        sources.note_return(source=revoked, return_code="R07", now=NOW)
        returned = make_returned(acme)
        paths = (
            *SIGNED_IN,
            f"/dashboard/funding/{returned.pk}",
            f"/dashboard/funding/{returned.pk}/retry",
            f"/dashboard/recipients/{Recipient.objects.get(is_saved=True).pk}",
            f"/dashboard/statements/{NOW:%Y-%m}",
            f"/dashboard/bank-accounts/{revoked.pk}/authorize",
            f"/dashboard/bank-accounts/authorizations/{agree(revoked).pk}",
        )

        assert looked_at(visit(dana, scheme=scheme, viewport=viewport), paths) == {}

    @in_looks("dark-phone")  # the same pages with less on them
    def test_with_pages_of_a_new_tenant(self, visit, dana, scheme, viewport):
        assert looked_at(visit(dana, scheme=scheme, viewport=viewport), SIGNED_IN) == {}


class TestNavigation:
    def test_opens_from_the_menu_button_on_a_phone(self, visit, dana):
        visitor = visit(dana, viewport=PHONE)
        visitor.goto("/dashboard/")
        link = visitor.page.get_by_role("link", name="Transactions", exact=True)
        expect(link).to_be_hidden()

        visitor.page.get_by_role("button", name="Menu").click()
        link.click()

        visitor.page.wait_for_url("**/dashboard/transactions")
        assert visitor.complaints == []

    @pytest.mark.parametrize("height", [720, 800])
    def test_is_whole_on_a_laptop(self, visit, dana, height):
        visitor = visit(user=dana, viewport={"width": 1280, "height": height})
        visitor.goto("/dashboard/")

        last = visitor.page.locator(".sidebar .nav__link").last.bounding_box()
        foot = visitor.page.locator(".sidebar__foot").bounding_box()

        assert last["y"] + last["height"] <= foot["y"]
        assert foot["y"] + foot["height"] <= height

    @pytest.mark.parametrize("width", [390, 1024, 1280])
    def test_has_a_preview_that_covers_no_field(self, visit, dana, acme, width):
        make_source(acme)
        visitor = visit(user=dana, viewport={"width": width, "height": 800})
        visitor.goto("/dashboard/auto-funding/settings")

        covered = visitor.page.evaluate(
            """() => {
                const over = document.querySelector("#preview").getBoundingClientRect();
                const all = document.querySelectorAll("form :is(input, select, label, button)");
                return [...all].filter((each) => {
                    const box = each.getBoundingClientRect();
                    return box.width && box.left < over.right && over.left < box.right
                        && box.top < over.bottom && over.top < box.bottom;
                }).map((each) => each.name || each.textContent);
            }"""
        )

        assert covered == []
        assert visitor.sideways_scroll() == 0

    def test_works_without_javascript(self, visit, dana, busy_acme):
        visitor = visit(dana, java_script_enabled=False)
        visitor.page.goto(visitor.address + "/dashboard/")

        visitor.page.get_by_role("link", name="See all").click()
        visitor.page.get_by_role("link", name="Older").click()

        assert "before=" in visitor.page.url
        expect(visitor.page.get_by_role("link", name="Newest")).to_be_visible()


class TestSigningIn:
    def test_leads_to_the_overview_and_out_again(self, visit, dana, acme):
        dana.set_password("correct horse battery")
        dana.save()
        fund(acme, 12_345)
        visitor = visit()
        visitor.goto("/")

        visitor.page.get_by_label("Email").fill("dana@acme.example")
        visitor.page.get_by_label("Password").fill("correct horse battery")
        visitor.page.get_by_role("button", name="Sign in", exact=True).click()
        visitor.page.wait_for_url("**/dashboard/")

        expect(visitor.page.get_by_text("$123.45").first).to_be_visible()
        visitor.page.get_by_role("button", name="Sign out").click()
        visitor.page.wait_for_url("**/accounts/login/")
        assert visitor.complaints == []


class TestLiveOverview:
    def test_shows_new_money_without_reload(self, visit, dana, acme):
        visitor = visit(dana)
        visitor.goto("/dashboard/")

        fund(acme, 77_700)

        visitor.page.get_by_text("$777.00").first.wait_for()
        assert visitor.complaints == []
