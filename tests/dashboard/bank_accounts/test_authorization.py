"""A bank account whose holder's authorization has ended: where people are told and asked."""

from __future__ import annotations

import html
import re

import pytest

from dashboard.funding.topup_form import new_token
from funding.models import AutoFundingConfig, FundingSource, FundingTransaction
from funding.services import sources
from tenants.models import AuditEvent, Role
from tests.builders import NOW, make_auto_funding, make_member, make_source
from tests.dashboard.auto_funding.test_settings import filled

ACCOUNTS = "/dashboard/bank-accounts"
TOPUP = "/dashboard/topup/"
SETTINGS = "/dashboard/auto-funding/settings"


@pytest.fixture
def source(acme):
    """The bank answered R07."""
    source = make_source(acme)
    sources.note_return(source=source, return_code="R07", now=NOW)
    return source


@pytest.fixture
def page(source):
    return f"{ACCOUNTS}/{source.pk}/authorize"


def answer(browser, tenant, page, **fields):
    """Press the button of `page`."""
    content = browser.get(page).content.decode()
    hidden = dict(re.findall(r'name="(seen|standing|then)" value="([^"]*)"', content))
    values = {name: html.unescape(value) for name, value in hidden.items()}
    return browser.post(page, {"acting_for": tenant.pk, **values, **fields}, follow=True)


class TestTheQuestion:
    def test_says_what_the_bank_answered_and_what_it_means(self, acme, dana_browser, page):
        make_auto_funding(acme)

        content = dana_browser.get(page).content.decode()

        assert (
            "The bank answered R07, authorization revoked: The account holder has withdrawn the"
            " permission to debit." in html.unescape(content)
        )
        assert "before debiting this account again." in content
        assert "Auto-funding adds $500.00 from it whenever the balance is low." in content
        assert "Confirm new authorization</button>" in content

    def test_says_that_another_pause_goes_on(self, acme, dana_browser, page):
        make_auto_funding(acme, paused_reason="paused_by_a_person")

        assert b"Auto-funding stays paused until somebody" in dana_browser.get(page).content

    def test_is_answered_in_the_name_of_the_person(self, acme, dana, dana_browser, page, source):
        response = answer(dana_browser, acme, page)

        assert b"6789 may be debited again." in response.content
        source.refresh_from_db()
        assert source.authorization_ended_at is None
        assert AuditEvent.objects.get(action="funding_source.authorized").actor_id == dana.pk

    def test_leads_back_to_where_it_came_up(self, acme, dana_browser, page):
        response = answer(dana_browser, acme, f"{page}?then=topup")

        assert response.redirect_chain[-1][0] == TOPUP

    def test_leads_nowhere_else(self, acme, dana_browser, page):
        response = answer(dana_browser, acme, page, then="https://evil.example")

        assert response.redirect_chain[-1][0] == ACCOUNTS

    def test_of_an_older_return_is_asked_again(self, acme, dana_browser, page, source):
        response = answer(dana_browser, acme, page, seen="2026-01-01T00:00:00.000000Z")

        assert b"The bank has refused another debit meanwhile." in response.content
        source.refresh_from_db()
        assert source.authorization_ended_at == NOW

    def test_is_not_asked_where_nothing_has_ended(self, acme, dana_browser):
        other = make_source(acme, account_number="7777")

        content = dana_browser.get(f"{ACCOUNTS}/{other.pk}/authorize").content

        assert b"This account does not need a new authorization." in content
        assert b"agrees again</button>" not in content

    def test_of_another_tenant_does_not_exist(self, rival, dana_browser):
        foreign = make_source(rival)

        assert dana_browser.get(f"{ACCOUNTS}/{foreign.pk}/authorize").status_code == 404

    @pytest.mark.parametrize("role", [Role.APPROVER, Role.VIEWER])
    def test_is_for_those_who_move_money(self, acme, sign_in, page, source, role):
        browser = sign_in(make_member(acme, email="v@acme.example", role=role))

        assert browser.get(page).status_code == 403
        posted = browser.post(page, {"acting_for": acme.pk, "seen": "2026-11-20T15:00:00.000000Z"})
        assert posted.status_code == 403
        source.refresh_from_db()
        assert source.authorization_ended_at == NOW


class TestResumingInTheSameStep:
    """Offered where the bank's answer is what paused auto-funding, and never without a tick."""

    BOX = '<input type="checkbox" name="resume" id="id_resume" aria-describedby'

    @pytest.fixture
    def config(self, acme):
        return make_auto_funding(acme, paused_reason="bank_returned_R07")

    def test_is_offered_with_what_it_does(self, dana_browser, page, config):
        content = dana_browser.get(page).content.decode()

        assert self.BOX in content
        assert "It adds $500.00 right away if the balance is below $100.00." in content
        assert "stays paused" not in content

    def test_agrees_and_resumes_at_once(self, acme, dana, dana_browser, page, source, config):
        response = answer(dana_browser, acme, page, resume="on")

        assert b"6789 may be debited again, and auto-funding is on." in response.content
        source.refresh_from_db()
        config.refresh_from_db()
        assert (source.authorization_ended_at, config.paused_reason) == (None, "")
        assert FundingTransaction.objects.get().amount == 50_000
        said = AuditEvent.objects.filter(
            action__in=("funding_source.authorized", "auto_funding.resumed")
        )
        assert {*said.values_list("actor_id", flat=True)} == {dana.pk}
        assert said.count() == 2

    def test_waits_for_the_tick(self, acme, dana_browser, page, source, config):
        answer(dana_browser, acme, page)

        source.refresh_from_db()
        config.refresh_from_db()
        assert source.authorization_ended_at is None
        assert config.paused_reason == "bank_returned_R07"
        assert not FundingTransaction.objects.exists()

    def test_changes_nothing_where_the_settings_are_others_by_now(
        self, acme, dana_browser, page, source, config
    ):
        response = answer(dana_browser, acme, page, resume="on", standing="as it was")

        assert b"Auto-funding was changed meanwhile." in response.content
        assert self.BOX in response.content.decode()
        source.refresh_from_db()
        assert source.authorization_ended_at == NOW

    def test_changes_nothing_where_it_runs_on_another_account_by_now(
        self, acme, dana_browser, page, source, config
    ):
        config.source, config.paused_reason = make_source(acme, account_number="7777"), ""
        config.save(update_fields=("source", "paused_reason"))

        response = answer(dana_browser, acme, page, resume="on", standing="as it was")

        assert b"Auto-funding draws on another account by now." in response.content
        assert b"may be debited again," not in response.content
        source.refresh_from_db()
        assert source.authorization_ended_at == NOW

    def test_says_why_it_cannot_and_changes_nothing(self, acme, dana_browser, page, source, config):
        config.funding_amount = 10**12
        config.save(update_fields=("funding_amount",))

        response = answer(dana_browser, acme, page, resume="on")

        assert b"Nothing was changed. At most $" in response.content
        source.refresh_from_db()
        assert source.authorization_ended_at == NOW

    @pytest.mark.parametrize("reason", ["paused_by_a_person", "too_many_firings", ""])
    def test_is_not_offered_after_another_pause(self, acme, dana_browser, page, reason):
        make_auto_funding(acme, paused_reason=reason)

        assert self.BOX not in dana_browser.get(page).content.decode()

    def test_is_not_offered_for_an_account_that_is_not_drawn_on(
        self, acme, dana_browser, page, config
    ):
        config.source = make_source(acme, account_number="7777")
        config.save(update_fields=("source",))

        assert self.BOX not in dana_browser.get(page).content.decode()


class TestWhereItIsTold:
    def test_the_list_of_accounts(self, dana_browser, page):
        content = dana_browser.get(ACCOUNTS).content.decode()

        assert "Not authorized</span>" in content
        assert "Authorization revoked (R07)." in content
        assert f'href="{page}"' in content

    def test_the_overview(self, dana_browser, page):
        content = dana_browser.get("/dashboard/").content.decode()

        assert "are not authorized (R07)." in content
        assert f'href="{page}"' in content

    def test_the_overview_leads_to_where_auto_funding_is_resumed(self, acme, dana_browser, page):
        make_auto_funding(acme, paused_reason="bank_returned_R07")

        content = dana_browser.get("/dashboard/").content.decode()

        assert '<a href="/dashboard/auto-funding">See what to do</a>' in content

    def test_adding_money(self, acme, dana_browser, page, source):
        assert f'href="{page}?then=topup"' in dana_browser.get(TOPUP).content.decode()

        for step in ("review", "confirm"):
            values = {
                "acting_for": acme.pk,
                "amount": "250.00",
                "source": source.pk,
                "method": "ach_debit",
                "token": new_token(tenant_id=acme.pk),
                "step": step,
            }
            response = dana_browser.post(TOPUP, values)

            assert response.status_code == 422
            assert b'id="id_source_error"' in response.content
            assert f'href="{page}?then=topup"' in response.content.decode()
        assert not FundingTransaction.objects.exists()

    def test_switching_auto_funding_on(self, acme, dana_browser, page):
        there = f'href="{page}?then=auto-funding"'
        assert there in dana_browser.get(SETTINGS).content.decode()

        response = dana_browser.post(SETTINGS, filled(acme))

        assert response.status_code == 422
        assert b'id="id_source_id_error"' in response.content
        assert there in response.content.decode()
        assert not AutoFundingConfig.objects.exists()

    def test_nowhere_once_the_holder_agrees(self, acme, dana_browser, page):
        answer(dana_browser, acme, page)

        for place in (ACCOUNTS, TOPUP, SETTINGS, "/dashboard/"):
            assert b"ot authorized" not in dana_browser.get(place).content
        assert FundingSource.objects.get().last_return_code == "R07"
