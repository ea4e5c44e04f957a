"""The auto-funding page: what it says, who may change it, and why it did not fire."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest

from balance import services as ledger
from common.clock import utc_now
from dashboard import auto_funding, decisions
from funding.models import AutoFundingConfig, AutoFundingDecision, FundingTransaction, Trigger
from funding.services import auto_funding_config
from funding.simulation import Simulation
from tenants.actors import SYSTEM
from tenants.models import AuditEvent, Role
from tests.balance.builders import fund, movement
from tests.builders import (
    NOW,
    mails_of,
    make_auto_funding,
    make_funding,
    make_member,
    make_source,
    notices_of,
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
    return re.search(r'name="seen" value="([^"]*)"', page.content.decode())[1]


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

        dana_browser.post(SETTINGS, filled(acme))

        assert FundingTransaction.objects.get().amount == 50_000

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
            "Will add $500.00 from JPMorgan Chase\xa0··6789 when you drop below $200.00; above"
            " $1,000.00 ana@acme.test is asked first." in content
        )
        assert (
            "With the last 30 days&#x27; spending of $100.00 this would have fired once, $500.00"
            " in all." in content
        )
        assert "<html" not in content
        assert not AutoFundingConfig.objects.exists()

    def test_without_javascript_is_a_button(self, acme, dana_browser):
        make_source(acme)

        response = dana_browser.post(SETTINGS, filled(acme, step="preview"))

        assert response.status_code == 200
        assert b"Will add $500.00 from" in response.content
        assert not AutoFundingConfig.objects.exists()

    @pytest.mark.parametrize("fields", [{"funding_amount": ""}, {"funding_amount": "5x"}])
    def test_waits_until_both_amounts_are_there(self, acme, dana_browser, fields):
        response = dana_browser.post(PREVIEW, filled(acme, **fields))

        assert response.status_code == 200
        assert b"Type when to add money" in response.content

    def test_costs_the_same_however_much_happened(
        self, acme, dana_browser, django_assert_max_num_queries
    ):
        make_source(acme)
        for _ in range(12):
            fund(acme, 1_000)

        with django_assert_max_num_queries(13):
            dana_browser.post(PREVIEW, filled(acme, confirmation_threshold="1"))


class TestSentence:
    def plan(self, **fields):
        values: dict[str, Any] = {
            "amount": 50_000,
            "threshold": 20_000,
            "account": "",
            "approval_above": None,
            "approvers": ("ana@acme.test",),
            "monthly_limit": None,
        }
        return auto_funding.plan(**(values | fields))

    @pytest.mark.parametrize(
        ("fields", "sentence"),
        [
            ({}, "Will add $500.00 when you drop below $200.00."),
            (
                {"account": "First Bank ··1234"},
                "Will add $500.00 from First Bank ··1234 when you drop below $200.00.",
            ),
            (
                {"approval_above": 50_000},
                "Will add $500.00 when you drop below $200.00; above $500.00 ana@acme.test is"
                " asked first.",
            ),
            (
                {"approval_above": 49_999},
                "Will add $500.00 when you drop below $200.00; ana@acme.test is asked first, each"
                " time.",
            ),
            (
                {"approval_above": 0, "approvers": ()},
                "Will add $500.00 when you drop below $200.00; somebody is asked first, each time.",
            ),
            (
                {"monthly_limit": 100_000},
                "Will add $500.00 when you drop below $200.00. At most $1,000.00 a month.",
            ),
        ],
    )
    def test_says_what_the_rule_does(self, fields, sentence):
        assert self.plan(**fields) == sentence

    @pytest.mark.parametrize(
        ("addresses", "text"),
        [
            ([], "nobody yet"),
            (["a", "b"], "a or b"),
            (["a", "b", "c", "d"], "a or 3 others"),
        ],
    )
    def test_names_who_is_asked(self, addresses, text):
        assert auto_funding.people(addresses) == text

    @pytest.mark.parametrize(
        ("fields", "sentence"),
        [
            (
                {"spent": 0, "firings": 0},
                "Nothing was spent in the last 30 days, so there is nothing to try it on.",
            ),
            (
                {"firings": 0},
                "With the last 30 days' spending of $900.00 it would not have fired.",
            ),
            (
                {},
                "With the last 30 days' spending of $900.00 this would have fired 3 times,"
                " $1,500.00 in all.",
            ),
            (
                {"is_capped": True, "days_short": 1},
                "With the last 30 days' spending of $900.00 this would have fired 3 times,"
                " $1,500.00 in all. The monthly limit would have stopped it. On one day the money"
                " would have come too late: a higher threshold or amount helps.",
            ),
        ],
    )
    def test_says_what_it_would_have_done(self, fields, sentence):
        values: dict[str, Any] = {
            "days": 30,
            "spent": 90_000,
            "firings": 3,
            "funded": 150_000,
            "days_short": 0,
            "is_capped": False,
        }
        assert auto_funding.outcome(Simulation(**(values | fields))) == sentence


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

        dana_browser.post(f"{PAGE}/resume", {"acting_for": acme.pk})

        assert AutoFundingConfig.objects.get().paused_reason == ""
        assert FundingTransaction.objects.get().amount == 50_000
        assert AuditEvent.objects.get(action="auto_funding.resumed").actor_id == dana.pk

    def test_cannot_be_resumed_without_a_bank_account_and_says_so(self, acme, dana_browser):
        make_auto_funding(acme, paused_reason="funding_source_removed")

        response = dana_browser.post(f"{PAGE}/resume", {"acting_for": acme.pk}, follow=True)

        assert b"Name a bank account, or make one the default." in response.content
        assert AutoFundingConfig.objects.get().paused_reason == "funding_source_removed"

    def test_shows_reason_and_back_off(self, acme, dana_browser):
        make_auto_funding(
            acme,
            paused_reason="waiting_after_failure",
            paused_until=utc_now() + timedelta(hours=6),
            failures_in_a_row=2,
        )

        content = dana_browser.get(PAGE).content.decode()

        assert "The last automatic funding failed or was given up." in content
        assert "2; it waits 1, then 6, then 24 hours after each" in content
        assert "Resume now" in content


class TestDecisions:
    def test_say_in_plain_words_why_it_did_not_fire(self, acme, dana_browser):
        make_decision(acme)

        content = dana_browser.get(PAGE).content.decode()

        assert "Did not add $500.00" in content
        assert "There was no bank account to draw from." in content
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
            ("tenant_suspended", "The tenant was suspended."),
            ("too_many_firings", "It was paused. It added money three times"),
            ("amount_mismatch", "Typed amount differs."),
        ],
    )
    def test_have_words_for_every_reason(self, code, words):
        assert decisions.reason(code).startswith(words)

    def test_cost_the_same_however_many(self, acme, dana_browser, django_assert_max_num_queries):
        make_auto_funding(acme)
        for _ in range(40):
            make_decision(acme)

        with django_assert_max_num_queries(12):
            dana_browser.get(PAGE)


class TestRoles:
    @pytest.mark.parametrize("role", [Role.APPROVER, Role.VIEWER])
    def test_that_may_only_look_find_no_buttons_and_closed_doors(self, acme, sign_in, role):
        make_auto_funding(acme)
        browser = sign_in(make_member(acme, email="v@acme.example", role=role))

        content = browser.get(PAGE).content.decode()

        assert "Will add $500.00" in content
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
