"""The form of the rule: saved, previewed, and by whom."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from balance import services as ledger
from common.clock import utc_now
from funding.models import AutoFundingConfig, FundingTransaction
from funding.services import auto_funding_config
from tenants.actors import SYSTEM
from tenants.models import AuditEvent, Role
from tenants.services import switches
from tenants.switches import SwitchKind
from tests.balance.builders import fund, movement
from tests.builders import (
    make_auto_funding,
    make_member,
    make_source,
)

PAGE = "/dashboard/auto-funding"
SETTINGS = f"{PAGE}/settings"
PREVIEW = f"{PAGE}/preview"


def filled(tenant, **fields):
    return {
        "acting_for": tenant.pk,
        "step": "save",
        "enabled": "on",
        "low_balance_threshold": "200",
        "funding_amount": "500",
        "source_id": "",
        "funding_method": "ach_debit",
        **fields,
    }


def seen(page):
    """Which settings the form on `page` was filled with."""
    found = re.search(r'name="seen" value="([^"]*)"', page.content.decode())
    assert found is not None
    return found[1]


class TestSaving:
    def test_sets_the_rule_in_the_name_of_the_person(self, acme, dana, dana_browser):
        make_source(acme)
        fund(acme, 100_000)

        response = dana_browser.post(
            SETTINGS,
            filled(
                acme,
                monthly_limit="5,000",
                confirmation_threshold="1000.00",
                confirmation_emails="Ana@Acme.test, ben@acme.test\nana@acme.test",
                confirm_topups="on",
            ),
        )

        assert response["Location"] == PAGE
        config = AutoFundingConfig.objects.get()
        assert (config.enabled, config.low_balance_threshold, config.funding_amount) == (
            True,
            20_000,
            50_000,
        )
        assert (config.monthly_limit, config.confirmation_threshold) == (500_000, 100_000)
        assert config.confirmation_emails == ["ana@acme.test", "ben@acme.test"]
        assert config.confirm_topups
        assert AuditEvent.objects.get(action="auto_funding.configured").actor_id == dana.pk

    def test_adds_money_at_once_when_the_balance_is_low(self, acme, dana_browser):
        make_source(acme)

        page = dana_browser.post(SETTINGS, filled(acme), follow=True)

        assert FundingTransaction.objects.get().amount == 50_000
        assert "Saved. $500.00 is on its way." in page.content.decode()

    def test_says_whose_approval_waits(self, acme, dana_browser):
        make_source(acme)
        asked = {"confirmation_threshold": "100", "confirmation_emails": "ana@acme.test"}

        page = dana_browser.post(SETTINGS, filled(acme, **asked), follow=True)

        said = "Saved. $500.00 waits for the approval of ana@acme.test."
        assert said in page.content.decode()

    def test_says_that_sending_is_stopped(self, acme, dana_browser):
        make_source(acme)
        switches.engage(kind=SwitchKind.FUNDING, reason="Storm", actor=SYSTEM, now=utc_now())

        page = dana_browser.post(SETTINGS, filled(acme), follow=True)

        assert "Saved. We send $500.00 once sending resumes." in page.content.decode()

    def test_promises_nothing_that_it_did_not_do(self, acme, dana_browser):
        make_source(acme)
        fund(acme, 100_000)

        page = dana_browser.post(SETTINGS, filled(acme), follow=True).content.decode()

        assert "Saved." in page
        assert "on its way." not in page

    def test_clears_what_was_left_empty(self, acme, dana_browser):
        make_source(acme)
        fund(acme, 100_000)
        make_auto_funding(acme, monthly_limit=1, confirmation_threshold=1)

        dana_browser.post(SETTINGS, filled(acme))

        config = AutoFundingConfig.objects.get()
        assert (config.monthly_limit, config.confirmation_threshold) == (None, None)

    def test_leaves_a_pause_alone(self, acme, dana_browser):
        make_source(acme)
        make_auto_funding(acme, paused_reason="too_many_firings")

        dana_browser.post(SETTINGS, filled(acme))

        assert AutoFundingConfig.objects.get().paused_reason == "too_many_firings"
        assert not FundingTransaction.objects.exists()

    def test_takes_nothing_back_that_somebody_else_set_meanwhile(self, acme, dana_browser):
        """Else a form that was open loosens the safeguard that a colleague has just tightened."""
        make_source(acme)
        fund(acme, 100_000)
        make_auto_funding(acme, confirmation_threshold=500_000)
        opened = seen(dana_browser.get(SETTINGS))
        auto_funding_config.configure(
            tenant_id=acme.pk,
            changes={"confirmation_threshold": 1_000},
            actor=SYSTEM,
            now=utc_now(),
        )
        stale = filled(acme, confirmation_threshold="5000", funding_amount="600", seen=opened)

        response = dana_browser.post(SETTINGS, stale)

        assert response["Location"] == SETTINGS
        config = AutoFundingConfig.objects.get()
        assert (config.confirmation_threshold, config.funding_amount) == (1_000, 50_000)
        shown = dana_browser.get(SETTINGS)
        assert "Nothing was saved" in shown.content.decode()
        fresh = stale | {"confirmation_threshold": "10", "seen": seen(shown)}
        assert dana_browser.post(SETTINGS, fresh)["Location"] == PAGE
        assert AutoFundingConfig.objects.get().funding_amount == 60_000

    def test_is_for_one_of_two_who_open_it_for_the_first_time(self, acme, dana_browser):
        make_source(acme)
        fund(acme, 100_000)
        opened = seen(dana_browser.get(SETTINGS))
        dana_browser.post(SETTINGS, filled(acme, seen=opened))

        response = dana_browser.post(SETTINGS, filled(acme, funding_amount="600", seen=opened))

        assert response["Location"] == SETTINGS
        assert AutoFundingConfig.objects.get().funding_amount == 50_000

    @pytest.mark.parametrize(
        ("fields", "field"),
        [
            ({"low_balance_threshold": ""}, "low_balance_threshold"),
            ({"funding_amount": ""}, "funding_amount"),
            ({"funding_amount": "0"}, "funding_amount"),
            ({"funding_amount": "1,000,000.01"}, "funding_amount"),
            ({"low_balance_threshold": "-1"}, "low_balance_threshold"),
            ({"monthly_limit": "much"}, "monthly_limit"),
            ({"confirmation_emails": "ana"}, "confirmation_emails"),
            (
                {"confirmation_emails": " ".join(f"p{n}@acme.test" for n in range(11))},
                "confirmation_emails",
            ),
            ({"source_id": "fs_of_somebody"}, "source_id"),
        ],
    )
    def test_explains_a_mistake_next_to_its_field(self, acme, dana_browser, fields, field):
        make_source(acme)

        response = dana_browser.post(SETTINGS, filled(acme, **fields))

        assert response.status_code == 422
        assert f"id_{field}_error" in response.content.decode()
        assert not AutoFundingConfig.objects.exists()

    def test_without_a_bank_account_says_so_next_to_it(self, acme, dana_browser):
        response = dana_browser.post(SETTINGS, filled(acme))

        assert response.status_code == 422
        assert "id_source_id_error" in response.content.decode()

    def test_refuses_the_account_of_another_tenant(self, acme, rival, dana_browser):
        make_source(acme)
        foreign = make_source(rival)

        response = dana_browser.post(SETTINGS, filled(acme, source_id=foreign.pk))

        assert response.status_code == 422
        assert not AutoFundingConfig.objects.exists()

    def test_may_be_switched_off_with_everything_kept(self, acme, dana_browser):
        make_auto_funding(acme)
        sent = filled(acme)
        del sent["enabled"]

        dana_browser.post(SETTINGS, sent)

        config = AutoFundingConfig.objects.get()
        assert (config.enabled, config.funding_amount) == (False, 50_000)

    def test_shows_what_is_saved(self, acme, dana_browser):
        source = make_source(acme)
        make_auto_funding(acme, source=source, confirmation_emails=["ana@acme.test"])

        content = dana_browser.get(SETTINGS).content.decode()

        assert 'value="100.00"' in content
        assert 'value="500.00"' in content
        assert "ana@acme.test" in content
        assert f'<option value="{source.pk}" selected>' in content


class TestPreview:
    def test_is_a_sentence_and_a_simulation(self, acme, dana_browser):
        make_source(acme)
        today = utc_now()
        fund(acme, 200_000, now=today - timedelta(days=9))
        ledger.lock(**movement(acme, 10_000, now=today - timedelta(days=8)))

        response = dana_browser.post(
            PREVIEW,
            filled(acme, confirmation_threshold="1000", confirmation_emails="ana@acme.test"),
        )

        content = response.content.decode()
        assert (
            "We add $500.00 from JPMorgan Chase\xa0··6789 when your balance drops below $200.00."
            " Above $1,000.00, ana@acme.test must approve it first." in content
        )
        assert (
            "In the last 30 days you spent $100.00. This rule would have added money once, $500.00"
            " in total." in content
        )
        assert "<html" not in content
        assert not AutoFundingConfig.objects.exists()

    def test_without_javascript_is_a_button(self, acme, dana_browser):
        make_source(acme)

        response = dana_browser.post(SETTINGS, filled(acme, step="preview"))

        assert response.status_code == 200
        assert b"We add $500.00 from" in response.content
        assert not AutoFundingConfig.objects.exists()

    @pytest.mark.parametrize("fields", [{"funding_amount": ""}, {"funding_amount": "5x"}])
    def test_waits_until_both_amounts_are_there(self, acme, dana_browser, fields):
        response = dana_browser.post(PREVIEW, filled(acme, **fields))

        assert response.status_code == 200
        assert b"Enter a threshold and an amount" in response.content

    def test_costs_the_same_however_much_happened(
        self, acme, dana_browser, django_assert_max_num_queries
    ):
        make_source(acme)
        for _ in range(12):
            fund(acme, 1_000)

        with django_assert_max_num_queries(13):
            dana_browser.post(PREVIEW, filled(acme, confirmation_threshold="1"))


class TestRoles:
    @pytest.mark.parametrize("role", [Role.APPROVER, Role.VIEWER])
    def test_that_may_only_look_find_no_buttons_and_closed_doors(self, acme, sign_in, role):
        make_source(acme)
        make_auto_funding(acme)
        browser = sign_in(make_member(acme, email="v@acme.example", role=role))

        content = browser.get(PAGE).content.decode()

        assert "We add $500.00" in content
        assert "Pause" not in content
        assert browser.get(SETTINGS).status_code == 403
        for path in (SETTINGS, PREVIEW, f"{PAGE}/pause", f"{PAGE}/resume"):
            assert browser.post(path, filled(acme)).status_code == 403
        assert AutoFundingConfig.objects.get().paused_reason == ""

    def test_members_may_change_it(self, acme, sign_in):
        make_source(acme)
        fund(acme, 100_000)
        browser = sign_in(make_member(acme, email="m@acme.example", role=Role.MEMBER))

        browser.post(SETTINGS, filled(acme))

        assert AutoFundingConfig.objects.get().enabled
