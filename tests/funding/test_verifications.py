"""Proving an account by its two deposits."""

from __future__ import annotations

from datetime import timedelta

import pytest

from common.errors import NotFound
from funding.errors import (
    FundingSourceUnusable,
    TooManyVerifications,
    VerificationAmountsWrong,
    VerificationExpired,
    VerificationNotPending,
)
from funding.models import FundingSource, SourceVerification
from funding.services import deposits, sources, topup_terms, verifications
from tenants.actors import api_key
from tenants.models import AuditEvent, Mode
from tests.builders import NOW, make_linked_source, make_source, make_tenant, notices_of
from tests.database.refusals import refusing
from tests.funding.live_network import connected, make_early_source

ACTOR = api_key("key_1")
TEN_DAYS = timedelta(days=10)


def guess(source, *amounts, now=NOW):
    return verifications.verify(
        tenant_id=source.tenant_id, source_id=source.pk, amounts=amounts, actor=ACTOR, now=now
    )


def remaining(verdict):
    assert isinstance(verdict.refusal, VerificationAmountsWrong)
    return verdict.refusal.extra["attempts_remaining"]


def status_of(source):
    return FundingSource.objects.get(pk=source.pk).status


@pytest.fixture
def source(acme):
    return make_source(acme, account_number="50001")


class TestVerify:
    @pytest.mark.parametrize("amounts", [(11, 22), (22, 11)])
    def test_activates_on_the_right_amounts_in_any_order(self, acme, source, amounts):
        verdict = guess(source, *amounts)

        assert verdict.refusal is None
        assert (verdict.source.status, verdict.source.is_default) == ("active", True)
        assert SourceVerification.objects.get().verified_at == NOW
        assert notices_of(acme, "funding_source.updated") == [
            {"fundingSourceId": source.pk, "status": "active", "lastReturnCode": None}
        ]
        assert AuditEvent.objects.get(action="funding_source.verified").actor_id == "key_1"

    def test_leaves_the_default_where_it_is(self, acme, source):
        first = make_source(acme)

        guess(source, 11, 22)

        assert FundingSource.objects.get(is_default=True).pk == first.pk

    def test_counts_three_tries(self, acme, source):
        tries = [remaining(guess(source, 1, 2)) for _ in range(3)]

        assert tries == [2, 1, 0]
        assert status_of(source) == "verification_failed"
        assert [notice["status"] for notice in notices_of(acme, "funding_source.updated")] == [
            "verification_failed"
        ]
        audited = AuditEvent.objects.filter(action="funding_source.verification_tried")
        assert audited.count() == 3

    def test_takes_no_amounts_once_the_tries_are_used(self, source):
        for _ in range(3):
            guess(source, 1, 2)

        with pytest.raises(VerificationAmountsWrong) as refusal:
            guess(source, 11, 22)

        assert refusal.value.extra == {"attempts_remaining": 0}
        assert status_of(source) == "verification_failed"

    def test_forgets_wrong_tries_after_a_right_one(self, source):
        guess(source, 1, 2)
        guess(source, 11, 11)

        assert guess(source, 22, 11).source.status == "active"

    def test_has_a_sandbox_pair_that_uses_up_the_tries(self, source):
        assert remaining(guess(source, 33, 44)) == 0
        assert status_of(source) == "verification_failed"

    def test_is_over_after_ten_days(self, acme, source):
        deposits.send_due(now=NOW)

        verdict = guess(source, 11, 22, now=NOW + TEN_DAYS)

        assert isinstance(verdict.refusal, VerificationExpired)
        assert status_of(source) == "verification_failed"

    def test_is_not_over_a_moment_before(self, source):
        deposits.send_due(now=NOW)

        just_in_time = NOW + TEN_DAYS - timedelta(microseconds=1)
        assert guess(source, 11, 22, now=just_in_time).refusal is None

    def test_is_not_for_accounts_that_are_proven(self, acme, source):
        guess(source, 11, 22)

        for proven in (source, make_linked_source(acme)):
            with pytest.raises(VerificationNotPending):
                guess(proven, 11, 22)

    def test_is_not_for_removed_accounts(self, acme, source):
        sources.remove(tenant_id=acme.pk, source_id=source.pk, actor=ACTOR, now=NOW)

        with pytest.raises(VerificationNotPending):
            guess(source, 11, 22)

    def test_counts_nothing_before_deposits_were_chosen(self, db):
        source = make_early_source(make_tenant(mode=Mode.LIVE))

        with pytest.raises(VerificationNotPending):
            guess(source, 11, 22)

        assert SourceVerification.objects.get().tries_used == 0

    def test_hides_other_tenants_sources(self, rival, source):
        with pytest.raises(NotFound):
            verifications.verify(
                tenant_id=rival.pk, source_id=source.pk, amounts=(11, 22), actor=ACTOR, now=NOW
            )

        assert SourceVerification.objects.get().tries_used == 0

    def test_failed_means_unusable(self, source):
        guess(source, 33, 44)

        with pytest.raises(FundingSourceUnusable, match="never verified"):
            topup_terms.lock(
                tenant_id=source.tenant_id,
                mode=source.tenant.mode,
                source_id=source.pk,
                method="ach_debit",
            )


class TestRepeatedDeposits:
    @pytest.fixture(autouse=True)
    def live(self, request):
        """Live tenants have a network; the sandbox keeps its own."""
        if "acme" in request.fixturenames:
            yield
        else:
            with connected():
                yield

    def add_and_remove(self, tenant, times, now=NOW):
        for _ in range(times):
            source = make_source(tenant, now=now)
            sources.remove(tenant_id=tenant.pk, source_id=source.pk, actor=ACTOR, now=now)

    def test_stop_after_the_second_within_thirty_days(self, db):
        tenant = make_tenant(mode=Mode.LIVE)
        self.add_and_remove(tenant, 2)

        with pytest.raises(TooManyVerifications):
            make_source(tenant, now=NOW + timedelta(days=29))

        assert make_source(tenant, now=NOW + timedelta(days=30)).status == "pending_verification"

    def test_to_another_account_are_counted_apart(self, db):
        tenant = make_tenant(mode=Mode.LIVE)
        self.add_and_remove(tenant, 2)

        assert make_source(tenant, account_number="222222").status == "pending_verification"

    def test_are_free_in_the_sandbox(self, acme):
        for _ in range(4):
            source = make_source(acme, account_number="50001")
            sources.remove(tenant_id=acme.pk, source_id=source.pk, actor=ACTOR, now=NOW)


class TestExpireDue:
    def test_ends_what_nobody_answered(self, acme, source):
        deposits.send_due(now=NOW)

        assert verifications.expire_due(now=NOW + TEN_DAYS - timedelta(seconds=1)) == 0
        assert verifications.expire_due(now=NOW + TEN_DAYS) == 1
        assert verifications.expire_due(now=NOW + TEN_DAYS) == 0
        assert status_of(source) == "verification_failed"

    def test_changes_nothing_for_who_was_proven_meanwhile(self, source):
        guess(source, 11, 22)

        assert verifications.fail(source_id=source.pk, now=NOW) is False
        assert status_of(source) == "active"

    def test_changes_nothing_for_whom_deposits_were_sent_again_meanwhile(self, source):
        """Between the sweep's look and its turn: ten more days."""
        SourceVerification.objects.update(expires_at=NOW + TEN_DAYS)

        assert not verifications._expire(source.pk, NOW + TEN_DAYS - timedelta(seconds=1))

        assert status_of(source) == "pending_verification"

    def test_one_that_breaks_holds_up_no_other(self, acme, rival):
        pair = [make_source(tenant, account_number="50001") for tenant in (acme, rival)]
        deposits.send_due(now=NOW)
        first = f"NEW.id = '{pair[0].pk}'"

        with refusing("funding_fundingsource", on="UPDATE", when=first):
            assert verifications.expire_due(now=NOW + verifications.VALID_FOR) == 1

        assert list(map(status_of, pair)) == ["pending_verification", "verification_failed"]

    def test_leaves_proven_accounts_alone(self, source):
        deposits.send_due(now=NOW)
        guess(source, 11, 22)

        assert verifications.expire_due(now=NOW + TEN_DAYS) == 0
        assert status_of(source) == "active"
