"""The text before the button: on Add money, Auto-funding, and where an account is added."""

from __future__ import annotations

import html
import re

import pytest

from dashboard.funding.topup_form import new_token
from funding.models import (
    AutoFundingConfig,
    DebitAuthorization,
    FundingSource,
    FundingTransaction,
)
from funding.services import sources
from tenants.models import AuditEvent, Mode, Role
from tests.builders import NOW, browser_of, make_member, make_tenant
from tests.dashboard.auto_funding.test_settings import filled
from tests.funding.agreeing import agree, make_individual, revoke
from tests.funding.live_network import connected

TOPUP = "/dashboard/topup/"
SETTINGS = "/dashboard/auto-funding/settings"
ENTER = "/dashboard/bank-accounts/enter"
ACCOUNTS = "/dashboard/bank-accounts"


@pytest.fixture
def tenant(db):
    with connected():
        yield make_tenant(mode=Mode.LIVE)


@pytest.fixture
def owner(tenant):
    return make_member(tenant, email="ann@acme.example", role=Role.OWNER)


@pytest.fixture
def browser(owner):
    return browser_of(owner)


@pytest.fixture
def source(tenant):
    return make_individual(tenant)


def seen_of(page):
    """What the hidden field of a page says was shown."""
    found = re.search(r'name="seen" value="([^"]*)"', page.content.decode())
    assert found is not None
    return html.unescape(found[1])


def text_of(response):
    """The text that is asked about, and the digest that goes with its tick."""
    content = response.content.decode()
    shown = re.search(r'id="agreed_text">(.*?)</p>', content, re.DOTALL)
    digest = re.search(r'name="agreed_to" value="([0-9a-f]{32})"', content)
    return (html.unescape(shown[1]), digest[1]) if shown and digest else (None, None)


class TestAddMoney:
    def form(self, source, **changes):
        return {
            "acting_for": source.tenant_id,
            "amount": "250",
            "source": source.pk,
            "method": "ach_debit",
            "token": new_token(tenant_id=source.tenant_id),
            "step": "review",
            **changes,
        }

    def test_shows_the_text_with_the_amount_before_the_button(self, browser, source):
        response = browser.post(TOPUP, self.form(source))

        text, _ = text_of(response)
        assert "once, for $250.00," in text
        assert "ending in 6789" in text
        assert "the balance of Acme" in text
        assert "revoke" in text
        assert "I authorize this</label>" in response.content.decode()
        assert not DebitAuthorization.objects.exists()

    def test_keeps_the_text_as_it_was_shown(self, browser, source, owner):
        form = self.form(source)
        text, digest = text_of(browser.post(TOPUP, form))

        browser.post(
            TOPUP,
            form | {"step": "confirm", "agreed": "on", "agreed_to": digest},
            REMOTE_ADDR="198.51.100.9",
        )

        kept = DebitAuthorization.objects.get()
        assert (kept.text, kept.text_version) == (text, "topup-1")
        assert (kept.kind, kept.amount_max) == ("single", 25_000)
        assert (kept.accepted_by_id, kept.address) == (owner.pk, "198.51.100.9")
        assert kept.debits.get().funding == FundingTransaction.objects.get()

    def test_adds_nothing_without_the_tick(self, browser, source):
        form = self.form(source)
        _, digest = text_of(browser.post(TOPUP, form))

        response = browser.post(TOPUP, form | {"step": "confirm", "agreed_to": digest})

        assert response.status_code == 422
        assert b"Read this and check the box to continue." in response.content
        assert not FundingTransaction.objects.exists()

    def test_shows_a_text_again_that_has_changed(self, browser, source):
        form = self.form(source)
        _, digest = text_of(browser.post(TOPUP, form))

        changed = form | {"amount": "300", "step": "confirm", "agreed": "on", "agreed_to": digest}
        response = browser.post(TOPUP, changed)

        assert response.status_code == 422
        assert b"The text has changed" in response.content
        assert "$300.00" in text_of(response)[0]
        assert b" checked" not in response.content
        assert not FundingTransaction.objects.exists()

    def test_keeps_one_of_a_button_that_was_pressed_twice(self, browser, source):
        form = self.form(source)
        _, digest = text_of(browser.post(TOPUP, form))
        confirmed = form | {"step": "confirm", "agreed": "on", "agreed_to": digest}

        for _ in range(2):
            assert browser.post(TOPUP, confirmed).status_code == 302

        assert DebitAuthorization.objects.count() == FundingTransaction.objects.count() == 1

    def test_asks_nobody_in_the_sandbox(self, acme, dana_browser):
        source = make_individual(acme)
        form = self.form(source)

        assert text_of(dana_browser.post(TOPUP, form)) == (None, None)
        assert dana_browser.post(TOPUP, form | {"step": "confirm"}).status_code == 302


class TestAutoFunding:
    def form(self, tenant, **changes):
        return filled(tenant) | {
            "enabled": "on",
            "low_balance_threshold": "100",
            "funding_amount": "500",
            "monthly_limit": "2000",
            "funding_method": "ach_debit",
            "step": "save",
            **changes,
        }

    def test_shows_the_rule_and_saves_nothing_without_the_tick(self, tenant, browser, source):
        response = browser.post(SETTINGS, self.form(tenant))

        text, _ = text_of(response)
        assert response.status_code == 422
        assert "at most $500.00 each time and $2,000.00 in a calendar month" in text
        assert "($100.00 now)" in text
        assert not AutoFundingConfig.objects.exists()

    def test_saves_the_rule_with_what_was_agreed_to(self, tenant, browser, source):
        text, digest = text_of(browser.post(SETTINGS, self.form(tenant)))

        agreed = {"agreed": "on", "agreed_to": digest}
        browser.post(SETTINGS, self.form(tenant, **agreed))

        kept = DebitAuthorization.objects.get()
        assert (kept.text, kept.scope) == (text, "auto_funding")
        assert (kept.amount_max, kept.monthly_max) == (50_000, 200_000)
        assert AutoFundingConfig.objects.get().enabled

    def test_asks_again_for_more_only(self, tenant, browser, source):
        _, digest = text_of(browser.post(SETTINGS, self.form(tenant)))
        agreed = {"agreed": "on", "agreed_to": digest}
        browser.post(SETTINGS, self.form(tenant, **agreed))

        assert browser.post(SETTINGS, self.form(tenant, funding_amount="499")).url
        more = browser.post(SETTINGS, self.form(tenant, funding_amount="501"))
        assert "$501.00" in text_of(more)[0]

    def test_follows_the_typing(self, tenant, browser, source):
        form = self.form(tenant, funding_amount="700")
        headers = {"HX-Request": "true", "X-Tenant": tenant.pk}

        response = browser.post("/dashboard/auto-funding/preview", form, headers=headers)

        assert 'id="agreement" hx-swap-oob="true"' in response.content.decode()
        assert "$700.00" in text_of(response)[0]

    def test_leads_to_the_text_when_it_cannot_be_resumed(self, tenant, browser, source):
        _, digest = text_of(browser.post(SETTINGS, self.form(tenant)))
        agreed = {"agreed": "on", "agreed_to": digest}
        browser.post(SETTINGS, self.form(tenant, **agreed))
        revoke(DebitAuthorization.objects.get())

        page = browser.get("/dashboard/auto-funding")
        assert b"revoked the authorization" in page.content
        resumed = browser.post(
            "/dashboard/auto-funding/resume",
            {"acting_for": tenant.pk, "seen": seen_of(page)},
            follow=True,
        )

        assert resumed.redirect_chain[-1][0] == SETTINGS
        assert "at most $500.00" in text_of(resumed)[0]


class TestAnAccountThatIsAdded:
    def form(self, tenant, **changes):
        return {
            "acting_for": tenant.pk,
            "holder_name": "Jo Doe",
            "routing_number": "021000021",
            "account_number": "000123456789",
            "account_number_again": "000123456789",
            "account_type": "checking",
            "holder_type": "individual",
            **changes,
        }

    def test_of_an_individual_is_not_added_without_the_tick(self, tenant, browser):
        response = browser.post(ENTER, self.form(tenant))

        assert response.status_code == 422
        assert b"Read this and check the box to continue." in response.content
        assert b"000123456789" not in response.content
        assert not FundingSource.objects.exists()

    def test_of_an_individual_keeps_what_was_agreed_to(self, tenant, browser):
        text, digest = text_of(browser.get(ENTER))
        assert "two small deposits" in text
        assert "at most $1,000,000.00" in text

        browser.post(ENTER, self.form(tenant, agreed="on", agreed_to=digest))

        kept = DebitAuthorization.objects.get()
        assert (kept.source, kept.text, kept.scope) == (FundingSource.objects.get(), text, "topups")

    def test_of_a_business_needs_no_tick_and_keeps_none(self, tenant, browser):
        _, digest = text_of(browser.get(ENTER))
        form = self.form(tenant, holder_type="business", agreed="on", agreed_to=digest)

        assert browser.post(ENTER, form).status_code == 302
        assert not DebitAuthorization.objects.exists()

    def test_in_the_sandbox_asks_for_nothing(self, acme, dana_browser):
        assert text_of(dana_browser.get(ENTER)) == (None, None)
        assert dana_browser.post(ENTER, self.form(acme)).status_code == 302


class TestAnAccountWithoutOne:
    def test_leads_to_the_text(self, browser, source):
        page = browser.get(ACCOUNTS).content.decode()
        assert f"{ACCOUNTS}/{source.pk}/authorize" in page

        text, digest = text_of(browser.get(f"{ACCOUNTS}/{source.pk}/authorize"))
        assert "a program with its API key asks for" in text
        response = browser.post(
            f"{ACCOUNTS}/{source.pk}/authorize",
            {"acting_for": source.tenant_id, "agreed": "on", "agreed_to": digest},
            follow=True,
        )

        assert b"6789 may be debited." in response.content
        assert "Authorize debits" not in response.content.decode()
        assert DebitAuthorization.objects.get().text == text

    def test_is_not_authorized_without_the_tick(self, browser, source):
        response = browser.post(
            f"{ACCOUNTS}/{source.pk}/authorize", {"acting_for": source.tenant_id}
        )

        assert response.status_code == 422
        assert not DebitAuthorization.objects.exists()

    def test_is_agreed_to_anew_after_the_bank_refused(self, browser, source):
        agree(source)
        sources.note_return(source=source, return_code="R07", now=NOW)
        address = f"{ACCOUNTS}/{source.pk}/authorize"
        page = browser.get(address)
        form = {"acting_for": source.tenant_id, "seen": seen_of(page)}

        assert browser.post(address, form).status_code == 422
        _, digest = text_of(page)
        browser.post(address, form | {"agreed": "on", "agreed_to": digest})

        source.refresh_from_db()
        assert source.authorization_ended_at is None
        assert DebitAuthorization.objects.filter(ended_at=None).count() == 1


class TestAnAccountWhoseHolderNobodyTold:
    @pytest.fixture
    def source(self, source):
        FundingSource.objects.filter(pk=source.pk).update(is_holder_known=False)
        return source

    def test_is_asked_about_once(self, browser, source):
        address = f"{ACCOUNTS}/{source.pk}/holder"
        assert address in browser.get(ACCOUNTS).content.decode()
        form = {"acting_for": source.tenant_id}

        assert browser.post(address, form | {"holder_type": "club"}).status_code == 422
        browser.post(address, form | {"holder_type": "business"})
        browser.post(address, form | {"holder_type": "individual"})

        source.refresh_from_db()
        assert (source.account_holder_type, source.is_holder_known) == ("business", True)
        assert AuditEvent.objects.get(action="funding_source.holder_told")
        assert address not in browser.get(ACCOUNTS).content.decode()
