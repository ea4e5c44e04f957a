"""What pages say of a rule that is on and adds nothing."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from common.clock import utc_now
from dashboard.auto_funding import decisions, obstacles
from dashboard.auto_funding import state as auto_funding
from funding.models import AutoFundingConfig
from funding.services import notices
from funding.services.auto_funding_checks import GUARDS, Purpose, obstacle_of
from payments.services import orders
from tenants.actors import SYSTEM
from tests.balance.builders import fund
from tests.builders import NOW
from tests.funding.obstacles import OBSTACLES, ready
from tests.payments.builders import account, pay, take

SETUPS = dict(OBSTACLES)


def sentence_of(tenant):
    config = AutoFundingConfig.objects.get(tenant=tenant)
    return auto_funding.state(config, now=NOW, obstacle=obstacle_of(config, now=utc_now()))


def reasons_for(purpose):
    return {reason for guard in GUARDS if guard.only in (None, purpose) for reason in guard.reasons}


def test_what_was_decided_has_words_for_every_guard():
    assert reasons_for(Purpose.FIRING) - {*decisions.REASONS, *notices.PAUSES} == set()


def test_what_to_do_now_has_words_for_every_guard():
    assert reasons_for(Purpose.LOOKING) - {*obstacles.WAYS_OUT, *notices.PAUSES} == set()


def test_every_guard_is_among_the_obstacles_that_tests_bring_about():
    elsewhere = {
        "authorization_required",  # of live tenants: tests/funding/test_debit_authorizations.py
        "no_network",
        "too_many_firings",
        "waiting_after_failure",
    }

    assert reasons_for(Purpose.LOOKING) - set(SETUPS) == elsewhere
    assert set(SETUPS) - reasons_for(Purpose.LOOKING) == set()


def test_a_reason_that_nobody_knows_is_not_called_a_pause():
    assert decisions.reason("full_moon").startswith("We have no explanation for full_moon.")


@pytest.mark.parametrize(("reason", "setup"), OBSTACLES)
def test_no_page_promises_what_will_not_happen(acme, dana_browser, reason, setup):
    fund(acme, 1_000_000)
    ready(acme)
    assert b"We add $500.00" in dana_browser.get("/dashboard/").content
    setup(acme)

    for path in ("/dashboard/", "/dashboard/auto-funding"):
        content = dana_browser.get(path).content.decode()

        assert "We add $" not in content, path
        assert ">On<" not in content, path


@pytest.mark.parametrize(
    ("reason", "text", "link"),
    [
        (
            "auto_funding_monthly_limit",
            "Auto-funding cannot add money right now. At most $500.00 a month is added"
            " automatically. $500.00 was asked for this month, so $0.00 is left. It resumes on"
            " December 1 (US Eastern time), or when you raise the limit.",
            "dashboard:auto_funding_settings",
        ),
        (
            "daily_limit_exceeded",
            "Auto-funding cannot add money right now. At most $999.99 a day. $500.00 was asked for"
            " today, so $499.99 is left. It resumes after midnight, US Eastern time. For a higher"
            " limit, contact support.",
            "dashboard:settings",
        ),
        (
            "no_funding_source",
            "Auto-funding cannot add money right now. There is no bank account to add money from."
            " Add one, or choose a default.",
            "dashboard:bank_accounts",
        ),
        (
            "funding_source_not_authorized",
            "The bank says debits are not authorized, so we add no money.",
            "dashboard:auto_funding",
        ),
        (
            "tenant_suspended",
            "Auto-funding cannot add money right now. The tenant is suspended. Please contact"
            " support.",
            "dashboard:auto_funding",
        ),
        (
            "funding_stopped",
            "Auto-funding cannot add money right now. Sending to the bank is stopped. Requests wait"
            " until it resumes. We have stopped it for now. Please contact support.",
            "dashboard:auto_funding",
        ),
    ],
)
def test_says_why_and_what_to_do(acme, reason, text, link):
    ready(acme)
    SETUPS[reason](acme)

    state = sentence_of(acme)

    assert (state.text, state.step.view) == (text, link)
    assert state.badge.tone == "warn"


class TestNeedsAttention:
    def test_a_rule_that_would_add_nothing(self, acme, dana_browser):
        fund(acme, 1_000_000)
        ready(acme)
        SETUPS["auto_funding_monthly_limit"](acme)

        content = dana_browser.get("/dashboard/").content.decode()

        assert "Auto-funding cannot add money right now. At most $500.00" in content
        today = datetime.now(ZoneInfo("America/New_York"))
        month = f"{today.replace(day=1) + timedelta(days=31):%B}"
        assert f"It resumes on {month} 1 (US Eastern time), or when you raise the limit." in content
        assert content.count("At most $500.00") == 1
        assert "We would add $500.00 when your balance drops below $100.00." in content

    @pytest.mark.parametrize(
        ("reason", "why"),
        [
            ("auto_funding_monthly_limit", "At most $500.00 a month is added automatically."),
            ("paused_by_a_person", "Somebody in your team paused it."),
            ("funding_source_unusable", "The bank no longer lets us use this account (R02)."),
        ],
    )
    def test_more_so_when_the_balance_is_low(self, acme, dana_browser, reason, why):
        ready(acme)
        SETUPS[reason](acme)

        content = dana_browser.get("/dashboard/").content.decode()

        assert f"Your balance is low, and auto-funding cannot add money. {why}" in content
        assert "todo__item--bad" in content
        assert content.count(why) == 1

    def test_not_a_pause_that_a_person_chose_while_there_is_money(self, acme, dana_browser):
        fund(acme, 1_000_000)
        ready(acme)
        SETUPS["paused_by_a_person"](acme)

        assert b"Needs attention" not in dana_browser.get("/dashboard/").content


class TestPaymentsThatWaitForMoney:
    def test_one(self, acme, dana_browser):
        pay(acme, 4_000, wait=True)

        content = dana_browser.get("/dashboard/").content.decode()

        assert "A payment of $40.00 is waiting for money." in content
        assert 'href="/dashboard/payments?status=short">See which</a>' in content

    def test_several_and_nobody_elses(self, acme, rival, dana_browser):
        pay(acme, 4_000, wait=True)
        pay(acme, 2_500, to=account("7701"), wait=True)
        pay(rival, 99_900, wait=True)

        content = dana_browser.get("/dashboard/").content.decode()

        assert "2 payments are waiting for money, $65.00 in total." in content

    def test_what_is_set_aside_waits_too_while_the_balance_is_short(self, acme, dana_browser):
        fund(acme, 10_000)
        pay(acme, 4_000)
        assert b"wait" not in dana_browser.get("/dashboard/").content
        take(acme, 10_000)

        content = dana_browser.get("/dashboard/").content.decode()

        assert "A payment of $40.00 is waiting for money." in content
        assert 'href="/dashboard/payments?status=short">See which</a>' in content

    def test_none_that_is_over(self, acme, dana_browser):
        over = pay(acme, 4_000, wait=True)
        orders.cancel(tenant_id=acme.pk, payment_id=over.pk, actor=SYSTEM, now=NOW)

        assert b"Needs attention" not in dana_browser.get("/dashboard/").content
