"""After the bank said that debits are not authorized, only a person starts them again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

import pytest

from funding.errors import FundingSourceNotAuthorized, IncompleteAutoFunding
from funding.models import AutoFundingConfig, FundingTransaction
from funding.services import (
    authorizations,
    auto_funding,
    auto_funding_config,
    pauses,
    sources,
)
from funding.services.auto_funding_config import Changes
from tenants.actors import SYSTEM, api_key, user
from tests.builders import NOW, make_auto_funding, make_source
from tests.funding.builders import run_due, top_up

KEY, DANA = api_key("key_1"), user("usr_dana")
LATER = NOW + timedelta(days=1)


def configure(tenant, actor, now=LATER, **changes: Any):
    auto_funding_config.configure(
        tenant_id=tenant.pk, changes=cast("Changes", changes), actor=actor, now=now
    )
    return AutoFundingConfig.objects.get(tenant=tenant)


@pytest.fixture
def revoking(acme):
    """The account of a holder whose bank answers every debit with R07."""
    return make_source(acme, account_number="10007")


@pytest.fixture
def revoked(acme, revoking):
    """acme, whose top-up came back as revoked while auto-funding drew on the same account."""
    make_auto_funding(acme)
    top_up(acme, source=revoking)
    run_due()
    assert AutoFundingConfig.objects.get().paused_reason == "bank_returned_R07"
    return acme


def is_paused(tenant):
    return AutoFundingConfig.objects.get(tenant=tenant).paused_reason != ""


class TestAnApiKey:
    def test_does_not_end_the_pause(self, revoked):
        with pytest.raises(FundingSourceNotAuthorized) as refusal:
            configure(revoked, KEY, enabled=True, funding_amount=70_000)

        assert refusal.value.detail == "The account holder's authorization has ended (R07)."
        assert refusal.value.field == "fundingSourceId"
        config = AutoFundingConfig.objects.get()
        assert (config.paused_reason, config.funding_amount) == ("bank_returned_R07", 50_000)
        assert FundingTransaction.objects.count() == 1

    def test_does_not_get_around_it_by_switching_off_and_on(self, revoked):
        configure(revoked, KEY, enabled=False)

        with pytest.raises(FundingSourceNotAuthorized):
            configure(revoked, KEY, enabled=True)

    def test_does_not_start_what_was_never_on(self, acme, revoking):
        top_up(acme, source=revoking)
        run_due()

        with pytest.raises(FundingSourceNotAuthorized):
            configure(
                acme,
                KEY,
                enabled=True,
                low_balance_threshold=10_000,
                funding_amount=50_000,
                funding_method="ach_debit",
            )

        assert not AutoFundingConfig.objects.exists()

    def test_may_name_another_account(self, revoked):
        other = make_source(revoked, account_number="7777")

        config = configure(revoked, KEY, enabled=True, source_id=other.pk)

        assert config.paused_reason == ""
        assert FundingTransaction.objects.get(source=other).trigger == "auto_funding"

    def test_does_not_lead_back_to_the_account(self, revoked, revoking):
        other = make_source(revoked, account_number="7777")
        configure(revoked, KEY, enabled=True, source_id=other.pk)

        with pytest.raises(FundingSourceNotAuthorized):
            configure(revoked, KEY, source_id=revoking.pk)

    def test_does_not_lead_back_once_a_person_chose_another_account(self, revoked, revoking):
        other = make_source(revoked, account_number="7777")
        configure(revoked, DANA, enabled=True, source_id=other.pk)

        with pytest.raises(FundingSourceNotAuthorized):
            configure(revoked, KEY, enabled=True, source_id=revoking.pk)

    def test_does_not_lead_back_by_the_default_either(self, revoked, revoking):
        other = make_source(revoked, account_number="7777")
        sources.make_default(tenant_id=revoked.pk, source_id=other.pk, actor=KEY, now=LATER)
        configure(revoked, DANA, enabled=True, funding_amount=1)
        sources.make_default(tenant_id=revoked.pk, source_id=revoking.pk, actor=KEY, now=LATER)

        with pytest.raises(FundingSourceNotAuthorized):
            configure(revoked, KEY, enabled=True)

    def test_does_not_lead_back_to_it_by_the_default(self, acme, revoking):
        top_up(acme, source=revoking)
        run_due()
        other = make_source(acme, account_number="7777")
        choose = {"tenant_id": acme.pk, "actor": KEY, "now": LATER}
        sources.make_default(source_id=other.pk, **choose)
        make_auto_funding(acme)

        sources.make_default(source_id=revoking.pk, **choose)
        decision = auto_funding.evaluate(tenant_id=acme.pk, now=LATER)

        assert decision is not None
        assert (decision.outcome, decision.reason) == ("declined", "funding_source_not_authorized")
        assert not FundingTransaction.objects.filter(trigger="auto_funding").exists()

    def test_ends_a_pause_for_another_reason(self, acme):
        make_source(acme)
        make_auto_funding(acme)
        pauses.pause(tenant_id=acme.pk, reason="too_many_firings", now=NOW)

        assert configure(acme, KEY, enabled=True).paused_reason == ""

    def test_of_a_closed_account_is_told_that_it_is_closed(self, acme):
        make_auto_funding(acme)
        top_up(acme, source=make_source(acme, account_number="10002"))
        run_due()

        with pytest.raises(IncompleteAutoFunding):
            configure(acme, KEY, enabled=True)


class TestAPerson:
    def test_says_that_the_holder_agrees_again(self, revoked, revoking):
        config = configure(revoked, DANA, enabled=True)

        assert (config.paused_reason, config.authorized_at) == ("", LATER)
        assert FundingTransaction.objects.get(trigger="auto_funding").source == revoking

    def test_lets_an_api_key_switch_it_off_and_on_from_then(self, revoked):
        configure(revoked, DANA, enabled=True)
        configure(revoked, KEY, enabled=False)

        assert configure(revoked, KEY, enabled=True).enabled

    def test_has_to_say_it_again_after_the_next_return(self, revoked, revoking):
        configure(revoked, DANA, enabled=True)
        run_due(now=LATER + timedelta(hours=1))

        assert is_paused(revoked)
        with pytest.raises(FundingSourceNotAuthorized):
            configure(revoked, KEY, now=LATER + timedelta(hours=2), enabled=True)

    def test_says_nothing_about_it_by_changing_an_amount(self, revoked):
        configure(revoked, DANA, funding_amount=70_000)

        with pytest.raises(FundingSourceNotAuthorized):
            configure(revoked, KEY, enabled=True)


class TestTheBank:
    @pytest.mark.parametrize("code", ["R05", "R07", "R08", "R10", "R11", "R29", "R97"])
    def test_ends_an_authorization(self, acme, code):
        source = make_source(acme)

        sources.note_return(source=source, return_code=code, now=NOW)

        assert (source.status, source.authorization_ended_at) == ("active", NOW)

    @pytest.mark.parametrize("code", ["R01", "R02", "R09", "R16"])
    def test_says_nothing_about_it(self, acme, code):
        source = make_source(acme)

        sources.note_return(source=source, return_code=code, now=NOW)

        assert source.authorization_ended_at is None

    def test_ends_it_by_refusing_a_request(self, acme):
        source = make_source(acme)

        sources.note_rejection(source=source, code="SL12", now=NOW)
        source.refresh_from_db()

        assert (source.last_return_code, source.authorization_ended_at) == ("SL12", NOW)

    def test_says_nothing_by_refusing_for_a_passing_reason(self, acme):
        source = make_source(acme)

        sources.note_rejection(source=source, code="AM04", now=NOW)
        source.refresh_from_db()

        assert (source.last_return_code, source.authorization_ended_at) == ("", None)


class TestResume:
    """What a page showed may have been settled, or changed, by somebody else."""

    def seen(self):
        config = AutoFundingConfig.objects.get()
        ended = authorizations.ended_at(config)
        return auto_funding_config.standing_of(config, ended=ended)

    def resume(self, tenant, seen):
        auto_funding_config.resume(tenant_id=tenant.pk, seen=seen, actor=DANA, now=LATER)

    def test_ends_the_pause_that_was_seen(self, revoked):
        self.resume(revoked, self.seen())

        assert not is_paused(revoked)

    def test_does_nothing_where_it_runs(self, acme):
        make_auto_funding(acme)

        auto_funding_config.resume(tenant_id=acme.pk, seen="anything", actor=SYSTEM, now=NOW)

        assert AutoFundingConfig.objects.get().authorized_at is None
