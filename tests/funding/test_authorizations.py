"""After the bank said that debits are not authorized, only a person starts them again."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from typing import Any, cast

import pytest
from django.db import connection

from funding.errors import (
    AuthorizationChanged,
    FundingSourceNotAuthorized,
    IncompleteAutoFunding,
)
from funding.models import AutoFundingConfig, FundingSource, FundingTransaction, Trigger
from funding.services import (
    authorizations,
    auto_funding,
    auto_funding_config,
    pauses,
    sources,
)
from funding.services.auto_funding_config import Changes
from funding.states import FundingStatus
from tenants.actors import SYSTEM, api_key, user
from tenants.models import AuditEvent
from tests.builders import NOW, make_auto_funding, make_funding, make_source
from tests.funding.builders import run_due, top_up

KEY, DANA = api_key("key_1"), user("usr_dana")
LATER = NOW + timedelta(days=1)
REFUSAL = (
    "The account holder's authorization has ended (R07)."
    " A person has to confirm a new one in the dashboard, under Bank accounts."
)


def configure(tenant, actor, now=LATER, **changes: Any):
    auto_funding_config.configure(
        tenant_id=tenant.pk, changes=cast("Changes", changes), actor=actor, now=now
    )
    return AutoFundingConfig.objects.get(tenant=tenant)


def renew(source, *, seen=None, actor=DANA, now=LATER):
    """A person confirms what the page showed of `source`."""
    source.refresh_from_db()
    return authorizations.renew(
        tenant_id=source.tenant_id,
        source_id=source.pk,
        seen=authorizations.version_of(source) if seen is None else seen,
        actor=actor,
        now=now,
    )


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
    revoking.refresh_from_db()
    return acme


def is_paused(tenant):
    return AutoFundingConfig.objects.get(tenant=tenant).paused_reason != ""


class TestAnApiKey:
    def test_does_not_end_the_pause(self, revoked):
        with pytest.raises(FundingSourceNotAuthorized) as refusal:
            configure(revoked, KEY, enabled=True, funding_amount=70_000)

        assert refusal.value.detail == REFUSAL
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

    def test_does_not_get_around_it_by_adding_the_account_again(self, acme, revoking):
        sources.note_return(source=revoking, return_code="R07", now=NOW)
        sources.remove(tenant_id=acme.pk, source_id=revoking.pk, actor=KEY, now=LATER)

        again = make_source(acme, account_number="10007", actor=KEY, now=LATER)

        with pytest.raises(FundingSourceNotAuthorized):
            top_up(acme, source=again, now=LATER)
        assert renew(again).authorization_ended_at is None

    def test_adds_an_account_again_that_nobody_refused(self, acme):
        source = make_source(acme)
        sources.note_return(source=source, return_code="R01", now=NOW)
        sources.remove(tenant_id=acme.pk, source_id=source.pk, actor=KEY, now=LATER)

        again = make_source(acme, actor=KEY, now=LATER)

        assert (again.authorization_ended_at, again.last_return_code) == (None, "")

    def test_of_a_closed_account_is_told_that_it_is_closed(self, acme):
        make_auto_funding(acme)
        top_up(acme, source=make_source(acme, account_number="10002"))
        run_due()

        with pytest.raises(IncompleteAutoFunding):
            configure(acme, KEY, enabled=True)

    def test_cannot_say_that_the_holder_agrees(self, revoked, revoking):
        with pytest.raises(FundingSourceNotAuthorized):
            renew(revoking, actor=KEY)

        revoking.refresh_from_db()
        assert revoking.authorization_ended_at == NOW


class TestTopUps:
    def test_are_refused_with_what_to_do(self, revoked, revoking):
        with pytest.raises(FundingSourceNotAuthorized) as refusal:
            top_up(revoked, source=revoking)

        assert refusal.value.detail == REFUSAL
        assert refusal.value.field == "fundingSourceId"
        assert FundingTransaction.objects.count() == 1

    def test_from_another_account_go_on(self, revoked):
        assert top_up(revoked, source=make_source(revoked, account_number="7777")).amount == 25_000

    def test_go_on_once_a_person_has_confirmed(self, revoked, revoking):
        renew(revoking)

        assert top_up(revoked, source=revoking, now=LATER).status == "reserved"


class TestAPerson:
    def test_says_that_the_holder_agrees_again(self, revoked, revoking):
        source = renew(revoking)

        assert source.authorization_ended_at is None
        event = AuditEvent.objects.get(action="funding_source.authorized")
        assert (event.actor_id, event.subject_id) == ("usr_dana", revoking.pk)
        assert event.details["returnCode"] == "R07"

    def test_says_it_once(self, revoked, revoking):
        seen = authorizations.version_of(revoking)

        for _ in range(2):
            renew(revoking, seen=seen)

        assert AuditEvent.objects.filter(action="funding_source.authorized").count() == 1

    def test_says_nothing_about_a_return_that_was_not_shown(self, revoked, revoking):
        seen = authorizations.version_of(revoking)
        sources.note_return(source=revoking, return_code="R10", now=LATER)

        with pytest.raises(AuthorizationChanged):
            renew(revoking, seen=seen)

        assert revoking.authorization_ended_at == LATER

    def test_says_it_by_adding_the_account_again(self, acme, revoking):
        sources.note_return(source=revoking, return_code="R07", now=NOW)
        sources.remove(tenant_id=acme.pk, source_id=revoking.pk, actor=DANA, now=LATER)

        again = make_source(acme, account_number="10007", actor=DANA, now=LATER)

        assert top_up(acme, source=again, now=LATER).status == "reserved"

    def test_leaves_the_pause_to_whoever_resumes(self, revoked, revoking):
        renew(revoking)

        assert is_paused(revoked)
        assert configure(revoked, KEY, enabled=True).paused_reason == ""
        assert FundingTransaction.objects.get(trigger="auto_funding").source == revoking

    def test_has_to_say_it_again_after_the_next_return(self, revoked, revoking):
        renew(revoking)
        configure(revoked, DANA, enabled=True)
        run_due(now=LATER + timedelta(hours=1))

        assert is_paused(revoked)
        with pytest.raises(FundingSourceNotAuthorized):
            configure(revoked, KEY, now=LATER + timedelta(hours=2), enabled=True)

    def test_says_nothing_about_it_by_changing_settings(self, revoked):
        configure(revoked, DANA, funding_amount=70_000)

        with pytest.raises(FundingSourceNotAuthorized):
            configure(revoked, DANA, enabled=True)


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


class TestBeforeItWasKept:
    """A return from before `authorization_ended_at` left its code with the account, no more."""

    @pytest.fixture
    def returned(self, acme):
        source = make_source(acme)
        make_funding(
            acme,
            source,
            status=FundingStatus.FAILED,
            returned=True,
            returned_at=NOW,
            return_code="R10",
        )
        FundingSource.objects.update(last_return_code="R10")
        return source

    def migrated(self, source):
        with connection.cursor() as cursor:
            cursor.execute(import_module("funding.migrations.0012_the_banks_last_word").ENDED)
        source.refresh_from_db()
        return source.authorization_ended_at

    def test_it_ends_the_authorization_all_the_same(self, returned):
        assert self.migrated(returned) == NOW

    def test_a_debit_that_went_well_after_it_says_that_it_was_given_again(self, acme, returned):
        make_funding(acme, returned, status=FundingStatus.COMPLETED, created_at=LATER)

        assert self.migrated(returned) is None

    def test_one_that_was_on_its_way_says_nothing(self, acme, returned):
        started = NOW - timedelta(days=1)
        make_funding(acme, returned, status=FundingStatus.COMPLETED, created_at=started)

        assert self.migrated(returned) == NOW

    def test_a_return_for_another_reason_ends_nothing(self, returned):
        FundingSource.objects.update(last_return_code="R01")

        assert self.migrated(returned) is None


class TestResume:
    """What a page showed may have been settled, or changed, by somebody else."""

    def seen(self):
        config = AutoFundingConfig.objects.get()
        ended = authorizations.ended_at(config)
        return auto_funding_config.standing_of(config, ended=ended)

    def resume(self, tenant, seen):
        auto_funding_config.resume(tenant_id=tenant.pk, seen=seen, actor=DANA, now=LATER)

    def test_ends_the_pause_that_was_seen_and_says_that_the_holder_agrees(self, revoked, revoking):
        self.resume(revoked, self.seen())

        revoking.refresh_from_db()
        assert not is_paused(revoked)
        assert revoking.authorization_ended_at is None
        assert FundingTransaction.objects.get(trigger=Trigger.AUTO_FUNDING).source == revoking

    def test_does_nothing_where_it_runs(self, acme):
        make_source(acme)
        make_auto_funding(acme)

        auto_funding_config.resume(tenant_id=acme.pk, seen="anything", actor=SYSTEM, now=NOW)

        assert not AuditEvent.objects.filter(action__startswith="auto_funding.").exists()
