from __future__ import annotations

from datetime import timedelta

import pytest

from balance import services as ledger
from dashboard import auto_funding
from funding.models import AutoFundingConfig
from funding.states import FundingStatus
from tests.balance.builders import fund, movement
from tests.builders import NOW, make_auto_funding, make_funding, make_source


class TestOverview:
    def test_shows_the_three_amounts(self, acme, dana_browser):
        fund(acme, 123_456)
        ledger.lock(**movement(acme, 20_000))
        ledger.change_pending(tenant_id=acme.pk, delta=7_700)

        content = dana_browser.get("/dashboard/").content.decode()

        assert "$1,034.56" in content
        assert "$200.00" in content
        assert "$77.00" in content

    def test_warns_when_a_bank_took_money_back(self, acme, dana_browser):
        ledger.debit(**movement(acme, 5_000))

        content = dana_browser.get("/dashboard/").content.decode()

        assert "−$50.00" in content
        assert "The balance is short" in content

    def test_shows_nothing_of_another_tenant(self, rival, dana_browser):
        fund(rival, 99_999)

        assert "999.99" not in dana_browser.get("/dashboard/").content.decode()

    def test_htmx_gets_the_live_part_alone(self, acme, dana_browser):
        fund(acme, 5_000)
        headers = {"HX-Request": "true", "X-Tenant": acme.pk}

        content = dana_browser.get("/dashboard/", headers=headers).content.decode()

        assert "$50.00" in content
        assert "<html" not in content

    def test_a_window_of_another_tenant_reloads_instead_of_mixing_them(
        self, acme, rival, dana_browser
    ):
        fund(acme, 5_000)
        headers = {"HX-Request": "true", "X-Tenant": rival.pk}

        response = dana_browser.get("/dashboard/", headers=headers)

        assert response["HX-Refresh"] == "true"
        assert response.content == b""

    def test_costs_the_same_however_much_happened(
        self, acme, dana_browser, django_assert_max_num_queries
    ):
        for _ in range(12):
            fund(acme, 1_000)

        with django_assert_max_num_queries(10):
            dana_browser.get("/dashboard/")


class TestFundingInFlight:
    def test_is_listed_until_it_is_over(self, acme, dana_browser):
        source = make_source(acme)
        make_funding(acme, source, amount=12_300, status=FundingStatus.IN_TRANSIT)
        make_funding(acme, source, amount=45_600, status=FundingStatus.COMPLETED)

        content = dana_browser.get("/dashboard/").content.decode()

        assert "$123.00" in content
        assert "expected Nov 20" in content
        assert "$456.00" not in content

    def test_is_not_that_of_another_tenant(self, rival, dana_browser):
        make_funding(rival, make_source(rival))

        assert b"Nothing on its way" in dana_browser.get("/dashboard/").content


class TestAutoFundingSentence:
    @pytest.mark.parametrize(
        ("fields", "sentence", "badge"),
        [
            (None, "Auto-funding is off: money is added only when somebody asks.", "Off"),
            ({}, "Will add $500.00 when you drop below $100.00.", "On"),
            (
                {"confirmation_threshold": 49_999},
                "Will add $500.00 when you drop below $100.00, once an approver agrees.",
                "On",
            ),
            (
                {"confirmation_threshold": 50_000},
                "Will add $500.00 when you drop below $100.00.",
                "On",
            ),
            (
                {"paused_reason": "too_many_firings"},
                "Auto-funding is paused. It added money three times within ten minutes. "
                "Find out what lowers the balance, then switch auto-funding on again.",
                "Paused",
            ),
            (
                {"paused_reason": "waiting_after_failure", "paused_until": NOW},
                "Auto-funding is paused until Nov 20, 2026, 3:00 PM UTC.",
                "Paused",
            ),
        ],
    )
    def test_says_what_happens_next(self, acme, fields, sentence, badge):
        config = AutoFundingConfig(tenant=acme)
        if fields is not None:
            config = make_auto_funding(acme, **fields)

        state = auto_funding.state(config, now=NOW - timedelta(minutes=1))

        assert state.text.startswith(sentence)
        assert state.badge.label == badge

    def test_a_pause_that_is_over_is_none(self, acme):
        config = make_auto_funding(acme, paused_reason="waiting_after_failure", paused_until=NOW)

        assert auto_funding.state(config, now=NOW).badge.label == "On"

    def test_stands_on_the_page(self, acme, dana_browser):
        make_auto_funding(acme)

        content = dana_browser.get("/dashboard/").content.decode()

        assert "Will add $500.00 when you drop below $100.00." in content
