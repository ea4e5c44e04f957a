"""What a live tenant's people are asked to agree to, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from funding.models import DebitAuthorization, FundingSource, FundingTransaction
from tenants.models import Mode, Role
from tests.browser.conftest import in_every_look
from tests.builders import make_member, make_tenant
from tests.funding.agreeing import make_individual, revoke
from tests.funding.live_network import connected

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(300),
]
ACCOUNTS = "/dashboard/bank-accounts"


@pytest.fixture
def tenant(db):
    with connected():
        yield make_tenant(mode=Mode.LIVE)


@pytest.fixture
def owner(tenant):
    return make_member(tenant, email="ann@acme.example", role=Role.OWNER)


@pytest.fixture
def source(tenant):
    return make_individual(tenant)


def sound(visitor):
    """The page has nothing to complain about, and is no wider than its window."""
    assert (visitor.barriers(), visitor.complaints) == ([], [])
    assert visitor.sideways_scroll() <= 0


def test_a_top_up_is_authorized_by_a_tick_shown_and_revoked(visit, owner, source):
    visitor = visit(owner)
    page = visitor.page
    visitor.goto("/dashboard/topup/")
    page.get_by_label("Amount in dollars").fill("250")
    page.get_by_role("button", name="Review").click()
    page.get_by_role("button", name="Add $250.00").click()
    expect(page.get_by_text("Read this and check the box to continue.")).to_be_visible()
    assert visitor.barriers() == []

    page.get_by_label("I authorize this").check()
    page.get_by_role("button", name="Add $250.00").click()
    page.get_by_role("link", name=DebitAuthorization.objects.get().pk).click()
    expect(page.get_by_text("once, for $250.00")).to_be_visible()
    page.get_by_role("button", name="Revoke").click()

    expect(page.get_by_text("The authorization is revoked.")).to_be_visible()
    assert DebitAuthorization.objects.get().ended_because == "revoked"
    assert FundingTransaction.objects.get().amount == 25_000


def test_the_text_of_a_rule_follows_the_typing(visit, owner, source):
    visitor = visit(owner)
    page = visitor.page
    visitor.goto("/dashboard/auto-funding/settings")
    page.get_by_label("When the balance drops below").fill("100")
    page.get_by_label("Add", exact=True).fill("500")
    expect(page.get_by_text("at most $500.00 each time")).to_be_visible()
    page.get_by_label("I authorize this").check()
    page.get_by_label("Add", exact=True).fill("600")
    expect(page.get_by_text("at most $600.00 each time")).to_be_visible()
    expect(page.get_by_label("I authorize this")).not_to_be_checked()

    page.get_by_label("I authorize this").check()
    page.wait_for_load_state("networkidle")
    expect(page.get_by_label("I authorize this")).to_be_checked()
    page.get_by_role("button", name="Save").click()

    expect(page.get_by_text("Saved.")).to_be_visible()
    assert DebitAuthorization.objects.get().amount_max == 60_000
    assert visitor.complaints == []


@in_every_look
def test_nothing_is_wrong_with_the_pages(visit, owner, source, scheme, viewport):
    unknown = make_individual(source.tenant, account_number="7777")
    FundingSource.objects.filter(pk=unknown.pk).update(is_holder_known=False)
    visitor = visit(owner, scheme=scheme, viewport=viewport)
    page = visitor.page
    for path in (
        ACCOUNTS,
        f"{ACCOUNTS}/enter",
        f"{ACCOUNTS}/link",
        f"{ACCOUNTS}/{source.pk}/authorize",
        f"{ACCOUNTS}/{unknown.pk}/holder",
        f"{ACCOUNTS}/authorizations",
    ):
        visitor.goto(path)
        sound(visitor)
    visitor.goto(f"{ACCOUNTS}/{source.pk}/authorize")
    page.get_by_label("I authorize this").check()
    page.get_by_role("button", name="Authorize debits").click()
    revoke(DebitAuthorization.objects.get())
    for path in (
        f"{ACCOUNTS}/authorizations",
        f"{ACCOUNTS}/authorizations/{DebitAuthorization.objects.get().pk}",
    ):
        visitor.goto(path)
        sound(visitor)
