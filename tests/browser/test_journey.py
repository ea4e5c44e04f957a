"""A first day in a browser, on the real processes: from an invitation to a resent event."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from allauth.mfa.totp.internal import auth as totp
from django.conf import global_settings
from playwright.sync_api import Page, expect

from balance import selectors as ledger
from dashboard.dev_inbox import mailbox
from funding.models import FundingTransaction
from tenants.models import Role
from tests.browser.conftest import Visitor
from tests.builders import make_member
from tests.receivers import Receiver
from tests.samples import by_day
from tests.scenarios.product import Product, running, wait_until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(900),
]

PROCESSES = ("valkey", "web", "worker", "beat", "dispatcher")
PASSWORD = "a long and quiet sentence"
SOON = 60  # seconds
ZONES = ("Asia/Tokyo", "America/New_York", "Europe/Berlin")
HALF_MINUTE = 30  # an authenticator's code is good for that long, counted from the full minute


@pytest.fixture
def mail(tmp_path):
    return tmp_path / "mail"


@pytest.fixture
def product(tmp_path, mail, port):
    with running(tmp_path, port, *PROCESSES, EMAIL_URL=f"filemail:///{mail}") as product:
        yield product


@pytest.fixture(params=by_day(ZONES, {"Asia/Tokyo"}))
def page(request, product, visit):
    """The browser of somebody in one of the time zones."""
    visitor = visit(timezone_id=request.param)
    visitor.address = product.base_url
    yield visitor.page
    assert visitor.complaints == []


def test_from_the_invitation_to_a_resent_event(product, page, visit, mail, acme, settings):
    settings.PASSWORD_HASHERS = global_settings.PASSWORD_HASHERS
    olga = make_member(acme, email="olga@acme.example", role=Role.OWNER)
    olga.set_password(PASSWORD)
    olga.save()
    invite(visit(), product, "mara@acme.example")
    join(page, link_in(mail, "mara@acme.example", "/join/"))
    protect(page, product)
    link_an_account(page, product)
    with Receiver() as receiver:
        add_an_endpoint(page, product, receiver.url())
        add_money(page, product, "$1,250.00")
        expect(page.locator("main")).to_contain_text("Completed", timeout=SOON * 1000)
        ask_for_approval(page, product)
        approve(page, link_in(mail, "mara@acme.example", "/confirm/"))
        wait_until(lambda: ledger.summary(acme.pk).available == 625_000, seconds=SOON)
        create_a_key(page, product)
        resend_a_delivery(page, product, receiver)
    assert FundingTransaction.objects.filter(status="completed").count() == 2


def invite(visitor: Visitor, product: Product, email: str) -> None:
    page = visitor.page
    sign_in(page, product, "olga@acme.example")
    page.get_by_role("link", name="Team").click()
    page.get_by_role("link", name="Invite").click()
    page.get_by_label("E-mail address").fill(email)
    page.get_by_label("Owner").check()
    page.get_by_role("button", name="Send invitation").click()
    page.get_by_text(email).first.wait_for()
    assert visitor.complaints == []


def sign_in(page: Page, product: Product, email: str) -> None:
    page.goto(f"{product.base_url}/accounts/login/")
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/dashboard/")


def link_in(folder: Path, to: str, path: str) -> str:
    """The first link to `path` in the mail of `to`, once it has come."""

    def links() -> list[str]:
        mails = [mail for mail in mailbox.messages(str(folder)) if to in mail.to]
        return [link for mail in mails for link in mail.links if path in link]

    wait_until(lambda: bool(links()), seconds=SOON)
    return links()[0]


def join(page: Page, link: str) -> None:
    page.goto(link)
    page.get_by_label("Your name").fill("Mara Lind")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Create my account and join").click()
    page.wait_for_url("**/dashboard/")


def protect(page: Page, product: Product) -> None:
    """Set up an authenticator app; the password was typed a moment ago."""
    page.goto(f"{product.base_url}/accounts/2fa/totp/activate/")
    secret = page.locator("form .code").inner_text().strip()
    wait_until(lambda: time.time() % HALF_MINUTE < 20, seconds=HALF_MINUTE)
    counter = next(iter(totp.yield_hotp_counters_from_time()))
    page.locator("#id_code").fill(totp.format_hotp_value(totp.hotp_value(secret, counter)))
    page.get_by_role("button", name="Turn on").click()
    page.wait_for_url("**/recovery-codes/**")


def link_an_account(page: Page, product: Product) -> None:
    page.goto(f"{product.base_url}/dashboard/bank-accounts")
    page.get_by_role("link", name="Link a sandbox bank").click()
    page.get_by_label("Account holder").fill("Acme Inc")
    page.get_by_role("button", name="Link account").click()
    page.get_by_text("was added.").wait_for()


def add_an_endpoint(page: Page, product: Product, url: str) -> None:
    page.goto(f"{product.base_url}/dashboard/webhooks/new")
    page.get_by_label("URL").fill(url)
    page.get_by_role("button", name="Add endpoint").click()
    page.get_by_role("link", name="I have copied it").click()
    page.get_by_role("heading", name="Deliveries").wait_for()


def add_money(page: Page, product: Product, amount: str) -> None:
    page.goto(f"{product.base_url}/dashboard/topup/")
    page.get_by_label("Amount in dollars").fill(amount)
    page.get_by_role("button", name="Review").click()
    page.get_by_role("button", name=f"Add {amount}").click()
    page.wait_for_url("**/dashboard/funding/ftx_*")


def ask_for_approval(page: Page, product: Product) -> None:
    """Auto-funding that fires at once, for more than goes unasked."""
    page.goto(f"{product.base_url}/dashboard/auto-funding/settings")
    page.get_by_label("Add money automatically").check()
    page.get_by_label("When the balance drops below").fill("2,000")
    page.get_by_label("Add", exact=True).fill("5,000")
    page.get_by_label("Require approval above (optional)").fill("1,000")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("We add $5,000.00").first.wait_for()


def approve(page: Page, link: str) -> None:
    page.goto(link)
    page.get_by_label("Type the amount").fill("$5,000.00")
    page.get_by_role("button", name="Approve $5,000.00").click()
    page.get_by_role("heading", name="Approved").wait_for()


def create_a_key(page: Page, product: Product) -> None:
    page.goto(f"{product.base_url}/dashboard/api-keys/new")
    page.get_by_label("Name").fill("Till")
    page.get_by_label("balance:read").check()
    page.get_by_role("button", name="Create key").dblclick()
    expect(page.locator("#secret")).to_contain_text("bal_test_")


def resend_a_delivery(page: Page, product: Product, receiver: Receiver) -> None:
    page.goto(f"{product.base_url}/dashboard/webhooks")
    page.locator("main table").get_by_role("link").first.click()
    row = page.get_by_role("row").filter(has_text="payment.completed").first
    row.get_by_role("link").first.click()
    before = len(receiver.requests)
    page.get_by_role("button", name="Resend").click()
    wait_until(lambda: len(receiver.requests) > before, seconds=SOON)
