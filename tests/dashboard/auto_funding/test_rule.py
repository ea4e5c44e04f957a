"""The page of the rule: pausing it, and what it decided."""

from __future__ import annotations

import html
import re
from datetime import timedelta
from typing import Any

import pytest

from common.clock import utc_now
from dashboard.auto_funding import decisions
from funding.models import (
    AutoFundingConfig,
    AutoFundingDecision,
    FundingSource,
    FundingTransaction,
    Trigger,
)
from tenants.models import AuditEvent
from tests.builders import (
    NOW,
    mails_of,
    make_auto_funding,
    make_funding,
    make_source,
    notices_of,
)

PAGE = "/dashboard/auto-funding"
SETTINGS = f"{PAGE}/settings"


def make_decision(tenant, **fields):
    values: dict[str, Any] = {
        "outcome": "declined",
        "reason": "no_funding_source",
        "available": 1_000,
        "in_flight": 0,
        "threshold": 20_000,
        "amount": 50_000,
        "created_at": NOW,
    }
    return AutoFundingDecision.objects.create(tenant=tenant, **(values | fields))


def resume(browser, tenant, *, page=None):
    """Press Resume on `page`, or on the one of now."""
    found = re.search(r'name="seen" value="([^"]*)"', (page or browser.get(PAGE)).content.decode())
    assert found is not None
    values = {"acting_for": tenant.pk, "seen": html.unescape(found.group(1))}
    return browser.post(f"{PAGE}/resume", values, follow=True)


def end_authorization():
    """The bank says of every account that debits are not authorized."""
    FundingSource.objects.update(last_return_code="R10", authorization_ended_at=utc_now())


class TestPausing:
    def test_stops_it_until_somebody_resumes_it(self, acme, dana, dana_browser):
        make_source(acme)
        make_auto_funding(acme)

        response = dana_browser.post(f"{PAGE}/pause", {"acting_for": acme.pk}, follow=True)

        assert b"Somebody in your team paused it." in response.content
        assert AutoFundingConfig.objects.get().paused_reason == "paused_by_a_person"
        assert AuditEvent.objects.get(action="auto_funding.paused").actor_id == dana.pk
        assert notices_of(acme, "auto_funding.paused")[0]["reason"] == "paused_by_a_person"
        assert mails_of(acme, "auto_funding_paused") == ["dana@acme.example"]

    def test_twice_is_told_once(self, acme, dana_browser):
        make_auto_funding(acme)

        for _ in range(2):
            dana_browser.post(f"{PAGE}/pause", {"acting_for": acme.pk})

        assert AuditEvent.objects.filter(action="auto_funding.paused").count() == 1

    def test_where_nothing_runs_does_nothing(self, acme, dana_browser):
        dana_browser.post(f"{PAGE}/pause", {"acting_for": acme.pk})

        assert not AuditEvent.objects.filter(action="auto_funding.paused").exists()

    def test_is_ended_by_resuming_which_adds_money_at_once(self, acme, dana, dana_browser):
        make_source(acme)
        make_auto_funding(acme, paused_reason="too_many_firings")

        resume(dana_browser, acme)

        assert AutoFundingConfig.objects.get().paused_reason == ""
        assert FundingTransaction.objects.get().amount == 50_000
        assert AuditEvent.objects.get(action="auto_funding.resumed").actor_id == dana.pk

    def test_cannot_be_resumed_without_a_bank_account_and_says_so(self, acme, dana_browser):
        make_auto_funding(acme, paused_reason="funding_source_removed")

        response = resume(dana_browser, acme)

        assert b"Name a bank account, or make one the default." in response.content
        assert AutoFundingConfig.objects.get().paused_reason == "funding_source_removed"

    @pytest.mark.parametrize(
        "meanwhile",
        [
            {"paused_reason": "bank_returned_R07"},
            {"enabled": False, "paused_reason": "", "updated_at": NOW + timedelta(hours=1)},
            {"funding_amount": 900_000, "updated_at": NOW + timedelta(hours=1)},
        ],
    )
    def test_is_not_ended_by_a_page_that_showed_something_else(self, acme, dana_browser, meanwhile):
        make_source(acme)
        make_auto_funding(acme, paused_reason="too_many_firings")
        opened = dana_browser.get(PAGE)
        AutoFundingConfig.objects.update(**meanwhile)

        response = resume(dana_browser, acme, page=opened)

        assert b"Auto-funding was changed meanwhile." in response.content
        assert AutoFundingConfig.objects.filter(**meanwhile).exists()
        assert not FundingTransaction.objects.exists()

    def test_is_ended_once_by_a_double_click(self, acme, dana_browser):
        make_source(acme)
        make_auto_funding(acme, paused_reason="too_many_firings")
        opened = dana_browser.get(PAGE)

        answers = [resume(dana_browser, acme, page=opened) for _ in range(2)]

        assert all(b"Auto-funding is on." in answer.content for answer in answers)
        assert AuditEvent.objects.filter(action="auto_funding.resumed").count() == 1

    def test_says_what_resuming_means_where_debits_were_not_authorized(self, acme, dana_browser):
        make_source(acme)
        make_auto_funding(acme, paused_reason="bank_returned_R10")
        words = b"you confirm that the account holder authorizes debits from the account again."
        assert words not in dana_browser.get(PAGE).content

        end_authorization()

        assert words in dana_browser.get(PAGE).content

    def test_says_it_too_where_the_bank_spoke_during_another_pause(self, acme, dana_browser):
        make_source(acme)
        make_auto_funding(acme, paused_reason="too_many_firings")
        opened = dana_browser.get(PAGE)
        end_authorization()

        response = resume(dana_browser, acme, page=opened)

        assert b"Auto-funding was changed meanwhile." in response.content
        assert b"By resuming, you confirm that the account holder authorizes" in response.content
        assert not FundingTransaction.objects.exists()

    def test_is_ended_where_only_the_agreement_is_missing(self, acme, dana_browser):
        make_source(acme)
        make_auto_funding(acme)
        end_authorization()
        opened = dana_browser.get(PAGE)
        assert b"The bank says debits are not authorized, so we add no money." in opened.content
        assert b"By resuming, you confirm" in opened.content

        response = resume(dana_browser, acme, page=dana_browser.get(PAGE))

        assert b"By resuming, you confirm" not in response.content
        assert FundingSource.objects.get().authorization_ended_at is None

    def test_shows_reason_and_back_off(self, acme, dana_browser):
        make_auto_funding(
            acme,
            paused_reason="waiting_after_failure",
            paused_until=utc_now() + timedelta(hours=6),
            failures_in_a_row=2,
        )

        content = dana_browser.get(PAGE).content.decode()

        assert "The last automatic top-up failed or was canceled." in content
        assert "2. After each failure we wait longer: 1, 6, then 24 hours." in content
        assert "Resume now" in content


class TestDecisions:
    def test_say_in_plain_words_why_it_did_not_fire(self, acme, dana_browser):
        make_decision(acme)

        content = dana_browser.get(PAGE).content.decode()

        assert "Did not add $500.00" in content
        assert "There was no bank account to add money from." in content
        assert "$10.00 available, $0.00 on its way, threshold $200.00" in content

    def test_lead_to_the_funding_they_started(self, acme, dana_browser):
        funding = make_funding(acme, make_source(acme), trigger=Trigger.AUTO_FUNDING)
        make_decision(acme, outcome="fired", reason="below_threshold", funding=funding)

        content = dana_browser.get(PAGE).content.decode()

        assert f'href="/dashboard/funding/{funding.pk}">Requested $500.00' in content

    def test_can_be_filtered_and_paged_together(self, acme, dana_browser):
        for minute in range(26):
            make_decision(acme, amount=11_100, created_at=NOW + timedelta(minutes=minute))
        make_decision(acme, outcome="fired", reason="below_threshold", amount=22_200)

        content = dana_browser.get(f"{PAGE}?show=not_fired").content.decode()

        assert content.count("Did not add $111.00") == 25
        assert "$222.00" not in content
        older = content.partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")
        assert older.startswith(f"{PAGE}?show=not_fired&before=")
        assert dana_browser.get(older).content.decode().count("Did not add $111.00") == 1

    def test_of_another_tenant_are_not_shown(self, rival, dana_browser):
        make_decision(rival)

        assert b"No decisions yet" in dana_browser.get(PAGE).content

    @pytest.mark.parametrize(
        ("code", "words"),
        [
            ("bank_returned_R03", "It was paused. The bank answered R03"),
            ("tenant_suspended", "Your organization was suspended."),
            ("too_many_firings", "It was paused. It added money three times"),
            ("read_only", "Read-only for the moment."),
        ],
    )
    def test_have_words_for_every_reason(self, code, words):
        assert decisions.reason(code).startswith(words)
