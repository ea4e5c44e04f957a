"""Trying again what came back for want of funds, in the dashboard."""

from __future__ import annotations

import pytest

from common.clock import utc_now
from funding.models import FundingLimit, FundingTransaction, RetryRule
from funding.services import retries
from tenants.actors import user
from tenants.models import Role
from tests.builders import NOW, make_member, make_source
from tests.funding.builders import run_due, top_up

RULE = "/dashboard/settings/returned-top-ups"


@pytest.fixture
def first(acme):
    row = top_up(acme, source=make_source(acme, account_number="10001"))
    run_due(rounds=8)
    return row


def page(browser, row, end=""):
    return browser.get(f"/dashboard/funding/{row.pk}{end}").content.decode()


def press(browser, row):
    path = f"/dashboard/funding/{row.pk}/retry"
    return browser.post(path, {"acting_for": row.tenant_id}, follow=True).content.decode()


class TestAReturnedTopUp:
    def test_offers_to_try_again(self, first, dana_browser):
        assert f'href="/dashboard/funding/{first.pk}/retry">Try $250.00 again' in page(
            dana_browser, first
        )
        asked = page(dana_browser, first, "/retry")
        assert "marked as retry 1 of 2" in asked
        assert "R01: Insufficient funds" in asked

    def test_for_another_reason_does_not(self, acme, dana_browser):
        row = top_up(acme, source=make_source(acme, account_number="10002"))
        run_due(rounds=8)

        assert "again</a>" not in page(dana_browser, row)
        assert "R01 or R09" in page(dana_browser, row, "/retry")
        assert "R01 or R09" in press(dana_browser, row)
        assert FundingTransaction.objects.count() == 1

    def test_is_tried_again_once_for_two_clicks(self, acme, dana, first, dana_browser):
        begun = press(dana_browser, first)
        again = FundingTransaction.objects.get(retry_of=first)
        assert again.created_by_id == dana.pk
        assert "We are trying again." in begun
        assert f">{first.pk}</a>" in begun
        assert "Retry, ACH debit" in begun

        assert "It is being tried again already." in press(dana_browser, first)
        assert FundingTransaction.objects.filter(retry_of=first).count() == 1

    def test_names_its_retries_and_why_there_is_no_other(self, first, dana_browser):
        for _ in range(2):
            press(dana_browser, first)
            run_due(now=utc_now(), rounds=8)

        content = page(dana_browser, first)
        for again in FundingTransaction.objects.filter(retry_of=first):
            assert f"/dashboard/funding/{again.pk}" in content
        assert content.count("<dt>Retry</dt>") == 2
        assert "It was tried again 2 times, and no more is allowed." in content

    def test_says_which_limit_stands_in_its_way(self, acme, first, dana_browser):
        FundingLimit.objects.create(tenant=acme, daily_max=20_000)

        assert "At most $200.00 a day." in page(dana_browser, first, "/retry")
        assert "At most $200.00 a day." in press(dana_browser, first)
        assert not FundingTransaction.objects.filter(retry_of=first).exists()

    @pytest.mark.parametrize("role", [Role.VIEWER, Role.APPROVER])
    def test_is_nothing_for_who_may_not_move_money(self, acme, first, sign_in, role):
        browser = sign_in(make_member(acme, email="lee@acme.example", role=role))

        assert "Try $250.00 again" not in page(browser, first)
        path = f"/dashboard/funding/{first.pk}/retry"
        assert browser.get(path).status_code == 403
        assert browser.post(path, {"acting_for": acme.pk}).status_code == 403

    def test_of_another_tenant_is_not_found(self, rival, dana_browser):
        row = top_up(rival)
        assert dana_browser.get(f"/dashboard/funding/{row.pk}/retry").status_code == 404


class TestTheRule:
    def test_is_chosen_by_an_owner(self, acme, dana_browser):
        assert "selected>Never</option>" in dana_browser.get(RULE).content.decode()

        chosen = {"acting_for": acme.pk, "times": "2", "after_days": "4"}
        assert dana_browser.post(RULE, chosen)["Location"] == RULE
        rule = RetryRule.objects.get(tenant=acme)
        assert (rule.times, rule.after_days) == (2, 4)
        log = dana_browser.get("/dashboard/audit-log").content.decode()
        assert "retry a returned top-up: 2, 4 banking days after each return" in log

    @pytest.mark.parametrize(("times", "days"), [("3", "1"), ("1", "0"), ("1", "11"), ("1", "")])
    def test_of_no_sense_is_refused_next_to_its_field(self, acme, dana_browser, times, days):
        chosen = {"acting_for": acme.pk, "times": times, "after_days": days}

        assert dana_browser.post(RULE, chosen).status_code == 422
        assert not RetryRule.objects.exists()

    def test_is_read_by_everybody_and_changed_by_owners(self, acme, dana, sign_in):
        retries.set_rule(tenant_id=acme.pk, times=1, after_days=2, actor=user(dana.pk), now=NOW)
        browser = sign_in(make_member(acme, email="lee@acme.example", role=Role.MEMBER))

        content = browser.get(RULE).content.decode()
        assert "Only owners can change this." in content
        assert "Save" not in content
        assert browser.post(RULE, {"acting_for": acme.pk, "times": "2"}).status_code == 403
        assert RetryRule.objects.get().times == 1
