from __future__ import annotations

import re
from datetime import timedelta

import pytest

from approvals import selectors
from balance import services as ledger
from common import days
from common.clock import utc_now
from dashboard.auto_funding import state as auto_funding
from funding.models import AutoFundingConfig, Confirmation, FundingSource
from funding.services import auto_funding as engine
from funding.states import FundingStatus
from tests.balance.builders import fund, movement
from tests.builders import (
    NOW,
    make_auto_funding,
    make_endpoint,
    make_funding,
    make_source,
)
from tests.funding.builders import top_up
from tests.payments.builders import fund as give
from tests.payments.builders import pay
from tests.payments.builders import run_due as run_payments


class TestOverview:
    def test_shows_the_three_amounts(self, acme, dana_browser):
        fund(acme, 123_456)
        ledger.lock(**movement(acme, 20_000))
        ledger.change_pending(tenant_id=acme.pk, delta=7_700)

        content = dana_browser.get("/dashboard/").content.decode()

        assert "$1,034.56" in content
        assert "$200.00" in content
        assert "$77.00" in content

    def test_shows_apart_what_waits_for_approval(self, acme, dana_browser):
        ledger.change_pending(tenant_id=acme.pk, delta=25_000 + 7_700)
        make_funding(acme, make_source(acme), status=FundingStatus.AWAITING_CONFIRMATION)

        content = " ".join(dana_browser.get("/dashboard/").content.decode().split())

        figures = content[content.index("<dl") : content.index("</dl>")]
        amounts = re.findall(r">(\w[\w ]+)</dt> <dd[^>]+>(.*?)</dd>", figures)
        assert amounts[1:3] == [("On its way", "$77.00"), ("Waits for approval", "$250.00")]
        assert "Waits for approval, coming in" in content
        assert "Not settled yet" not in content

    def test_leads_to_statements(self, dana_browser):
        assert 'href="/dashboard/statements">' in dana_browser.get("/dashboard/").content.decode()

    def test_lists_money_on_its_way_in_and_out(self, acme, rival, dana_browser):
        fund(acme, 10_000)
        coming = make_funding(acme, make_source(acme), status=FundingStatus.PENDING)
        going = pay(acme, 4_000)
        give(rival, 777_00)
        pay(rival, 77_700)

        content = dana_browser.get("/dashboard/").content.decode()

        assert f'href="/dashboard/funding/{coming.pk}">+$250.00</a>' in content
        assert f'href="/dashboard/payments/{going.pk}">−$40.00</a>' in content
        assert "to Supplier LLC" in content
        assert "777.00" not in content

    def test_lists_the_latest_movements_not_the_lines_of_the_ledger(self, acme, dana_browser):
        give(acme, 10_000)
        payment = pay(acme, 4_000)
        run_payments()

        content = dana_browser.get("/dashboard/").content.decode()

        latest = content[content.index("Latest transactions") : content.index("On its way</h2>")]
        links = [f"/dashboard/payments/{payment.pk}"]
        assert re.findall(r'class="table__main"><a href="(.*?)"', latest) == links
        assert re.findall(r"[+−]\$[0-9.]+(?=</p>)", latest) == ["−$40.00", "+$100.00"]

    def test_says_how_long_the_balance_lasts_and_does_not_promise_it(self, acme, dana_browser):
        now = utc_now()
        fund(acme, 100_000, now=now - timedelta(days=4))
        for back in (4, 3, 2, 1):
            ledger.lock(**movement(acme, 10_000, now=now - timedelta(days=back)))

        content = " ".join(dana_browser.get("/dashboard/").content.decode().split())

        until = days.day_of(now) + timedelta(days=6)
        assert (
            f"your balance lasts <strong>6 days, until {until:%b} {until.day}</strong>" in content
        )
        assert "You spent $100.00 a day on average in the last 4 days." in content
        assert "this is no promise" in content

    def test_says_what_is_not_settled_yet_and_when_it_will_be(self, acme, dana_browser):
        due = days.day_of(utc_now()) + timedelta(days=2)
        make_funding(
            acme,
            make_source(acme),
            status=FundingStatus.PENDING,
            expected_availability_date=due,
        )

        content = " ".join(dana_browser.get("/dashboard/").content.decode().split())

        assert "Not settled yet, coming in" in content
        assert f"expected {due:%b} {due.day} </span>" in content

    def test_warns_when_a_bank_took_money_back(self, acme, dana_browser):
        ledger.debit(**movement(acme, 5_000))

        content = dana_browser.get("/dashboard/").content.decode()

        assert "−$50.00" in content
        assert "Your balance is below zero" in content
        assert "Ready to spend" not in content

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


class TestChart:
    def test_is_a_drawing_with_a_table_that_says_the_same(self, acme, dana_browser):
        fund(acme, 30_000, now=utc_now() - timedelta(days=3))
        make_auto_funding(acme)

        content = dana_browser.get("/dashboard/").content.decode()

        assert "Available balance, last 30 days" in content
        assert "Now $300.00." in content
        assert "chart__threshold" in content
        assert "Auto-funding below $100.00" in content
        assert content.count('class="number amount">$300.00</td>') == 4

    @pytest.mark.parametrize(
        ("text", "span"), [("7", 7), ("90", 90), ("8", 30), ("", 30), ("x", 30)]
    )
    def test_shows_as_many_days_as_the_address_says(self, acme, dana_browser, text, span):
        fund(acme, 100)

        content = dana_browser.get(f"/dashboard/?days={text}").content.decode()

        assert f"Available balance, last {span} days" in content
        assert f'max="{span - 1}"' in content
        assert content.count('<td class="number amount">') == span

    def test_leaves_out_a_threshold_that_is_off(self, acme, dana_browser):
        make_auto_funding(acme, enabled=False)

        assert b"chart__threshold" not in dana_browser.get("/dashboard/").content

    def test_is_left_out_where_there_never_was_money(self, dana_browser):
        content = dana_browser.get("/dashboard/").content.decode()

        assert "The balance was zero on each of the last 30 days." in content
        assert "chart__drawing" not in content

    def test_can_be_asked_for_alone(self, acme, dana_browser):
        fund(acme, 100)

        content = dana_browser.get("/dashboard/balance-chart?days=7").content.decode()

        assert "Available balance, last 7 days" in content
        assert "<html" not in content


class TestAttention:
    def test_is_not_asked_for_when_all_is_well(self, acme, dana_browser):
        make_endpoint(acme)
        make_source(acme)

        assert b"Needs attention" not in dana_browser.get("/dashboard/").content

    def test_names_a_waiting_approval_and_leads_to_it(self, acme, dana_browser):
        make_source(acme)
        make_auto_funding(acme, confirmation_threshold=1)
        engine.evaluate(tenant_id=acme.pk, now=utc_now())

        content = dana_browser.get("/dashboard/").content.decode()

        assert "$500.00 is waiting for approval." in content
        assert f'href="/dashboard/approvals/{Confirmation.objects.get().pk}"' in content

    def test_sums_up_several(self, acme, dana_browser):
        source = make_source(acme)
        make_auto_funding(acme, enabled=False, confirm_topups=True, confirmation_threshold=1)
        for amount in (10_000, 5_000):
            top_up(acme, source=source, amount=amount, now=utc_now())

        content = dana_browser.get("/dashboard/").content.decode()

        assert "2 approvals are waiting, $150.00 in total." in content

    def test_counts_no_further_than_the_page_shows(self, acme, dana_browser, monkeypatch):
        monkeypatch.setattr(selectors, "OPEN_MAX", 2)
        source = make_source(acme)
        make_auto_funding(acme, enabled=False, confirm_topups=True, confirmation_threshold=1)
        for _ in range(3):
            top_up(acme, source=source, now=utc_now())

        assert b"2 or more approvals are waiting." in dana_browser.get("/dashboard/").content
        assert dana_browser.get("/dashboard/approvals").content.count(b'class="waiting"') == 2

    def test_names_accounts_to_verify_and_accounts_that_are_refused(self, acme, dana_browser):
        waiting = make_source(acme, account_number="50001")
        FundingSource.objects.filter(pk=make_source(acme).pk).update(
            status="errored", last_return_code="R02"
        )

        content = dana_browser.get("/dashboard/").content.decode()

        assert "Verify the two deposits to start using JPMorgan Chase\xa0··0001." in content
        assert f'href="/dashboard/bank-accounts/{waiting.pk}/verify"' in content
        assert "6789 (R02). Remove it and link it again." in content

    @pytest.mark.parametrize(
        ("fields", "text"),
        [
            ({"consecutive_failures": 1}, "failed once."),
            ({"consecutive_failures": 9}, "failed 9 times in a row."),
            ({"status": "disabled", "disabled_reason": "failing"}, "are switched off."),
        ],
    )
    def test_names_webhooks_that_do_not_arrive(self, acme, dana_browser, fields, text):
        make_endpoint(acme, **fields)

        content = dana_browser.get("/dashboard/").content.decode()

        assert f"Webhooks to https://hooks.example.com/in {text}" in content

    def test_leaves_webhooks_alone_that_the_tenant_switched_off(self, acme, dana_browser):
        make_endpoint(acme, status="disabled", disabled_reason="tenant")

        assert b"Needs attention" not in dana_browser.get("/dashboard/").content

    def test_is_nobody_elses_business(self, rival, dana_browser):
        make_source(rival, account_number="50001")
        make_endpoint(rival, consecutive_failures=3)

        assert b"Needs attention" not in dana_browser.get("/dashboard/").content


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
            (None, "Auto-funding is off. Money is added only when somebody adds it.", "Off"),
            ({}, "We add $500.00 when your balance drops below $100.00.", "On"),
            (
                {"confirmation_threshold": 49_999},
                "We add $500.00 when your balance drops below $100.00, once an approver agrees.",
                "On",
            ),
            (
                {"confirmation_threshold": 50_000},
                "We add $500.00 when your balance drops below $100.00.",
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
                "Auto-funding is paused until Nov 20, 2026, 10:00 AM EST.",
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
        make_source(acme)
        make_auto_funding(acme)

        content = dana_browser.get("/dashboard/").content.decode()

        assert "We add $500.00 when your balance drops below $100.00." in content
