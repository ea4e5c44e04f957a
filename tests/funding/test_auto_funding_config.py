"""Changing the settings of auto-funding."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

import pytest

from balance import selectors as ledger
from common.errors import NotFound
from funding.errors import FundingMethodNotSupported, IncompleteAutoFunding
from funding.models import AutoFundingConfig, Confirmation, FundingLimit, FundingTransaction
from funding.services import auto_funding, auto_funding_config, pauses, sources
from funding.services.auto_funding_config import Changes
from tenants.actors import SYSTEM, api_key
from tenants.models import AuditEvent
from tests.balance.builders import balance_of, fund
from tests.builders import NOW, make_auto_funding, make_source
from transfers.errors import AmountAboveLimit

KEY = api_key("key_1")
COMPLETE = {
    "enabled": True,
    "low_balance_threshold": 10_000,
    "funding_amount": 50_000,
    "funding_method": "ach_debit",
}


def configure(tenant, now=NOW, **changes: Any):
    auto_funding_config.configure(
        tenant_id=tenant.pk, changes=cast("Changes", changes), actor=KEY, now=now
    )
    return AutoFundingConfig.objects.get(tenant=tenant)


@pytest.fixture
def rich(acme):
    """acme with more money than any threshold here, so that nothing fires."""
    fund(acme, 1_000_000)
    return acme


class TestSaving:
    def test_first_settings(self, rich, source):
        config = configure(rich, **COMPLETE)

        assert (config.enabled, config.low_balance_threshold, config.funding_amount) == (
            True,
            10_000,
            50_000,
        )
        assert (config.confirmation_threshold, config.monthly_limit, config.source) == (None,) * 3
        assert config.updated_at == NOW
        assert ledger.summary(rich.pk).notify_below == 10_000
        event = AuditEvent.objects.get(action="auto_funding.configured")
        assert (event.actor_id, event.subject_id) == ("key_1", config.pk)
        assert event.details["enabled"] == [False, True]
        assert event.details["funding_amount"] == [None, 50_000]

    def test_a_setting_left_out_keeps_its_value(self, rich, source):
        configure(rich, **COMPLETE, confirmation_threshold=5, monthly_limit=9)

        config = configure(rich, low_balance_threshold=20_000)

        assert (config.confirmation_threshold, config.monthly_limit) == (5, 9)
        assert config.enabled is True
        assert ledger.summary(rich.pk).notify_below == 20_000

    def test_none_clears_what_may_be_cleared(self, rich, source):
        configure(rich, **COMPLETE, confirmation_threshold=5, monthly_limit=9, source_id=source.pk)

        config = configure(rich, confirmation_threshold=None, monthly_limit=None, source_id=None)

        assert (config.confirmation_threshold, config.monthly_limit, config.source) == (None,) * 3

    def test_saying_the_same_again_changes_and_audits_nothing(self, rich, source):
        configure(rich, **COMPLETE)

        config = configure(rich, NOW + timedelta(hours=1), **COMPLETE)

        assert config.updated_at == NOW
        assert AuditEvent.objects.filter(action="auto_funding.configured").count() == 1

    def test_disabling_switches_the_ledgers_news_off_and_forgets_the_pause(self, rich, source):
        configure(rich, **COMPLETE)
        pauses.pause(tenant_id=rich.pk, reason="too_many_firings", now=NOW)

        config = configure(rich, enabled=False)

        assert ledger.summary(rich.pk).notify_below is None
        assert (config.enabled, config.paused_reason) == (False, "")

    def test_disabled_settings_may_be_incomplete(self, acme):
        config = configure(acme, funding_amount=7)

        assert (config.enabled, config.funding_amount, config.funding_method) == (False, 7, "")

    def test_enabling_while_the_balance_is_low_funds_at_once(self, acme, source):
        configure(acme, **COMPLETE)

        assert balance_of(acme) == (0, 50_000, 0)
        assert FundingTransaction.objects.get().trigger == "auto_funding"


class TestRefusals:
    def refused(self, tenant, error, field, **changes):
        with pytest.raises(error) as refusal:
            configure(tenant, **changes)
        assert refusal.value.field == field
        assert not AutoFundingConfig.objects.filter(tenant=tenant).exists()
        assert not AuditEvent.objects.filter(action="auto_funding.configured").exists()
        assert ledger.summary(tenant.pk).notify_below is None
        return True

    @pytest.mark.parametrize(
        ("missing", "field"),
        [
            ("low_balance_threshold", "lowBalanceThreshold"),
            ("funding_amount", "fundingAmount"),
            ("funding_method", "fundingMethod"),
        ],
    )
    def test_enabling_needs_every_term(self, acme, source, missing, field):
        changes = {name: value for name, value in COMPLETE.items() if name != missing}

        assert self.refused(acme, IncompleteAutoFunding, field, **changes)

    def test_enabling_needs_a_bank_account(self, acme):
        assert self.refused(acme, IncompleteAutoFunding, "fundingSourceId", **COMPLETE)

    def test_enabling_needs_a_usable_bank_account(self, acme):
        unverified = make_source(acme, account_number="50001")

        assert self.refused(
            acme,
            IncompleteAutoFunding,
            "fundingSourceId",
            **COMPLETE,
            source_id=unverified.pk,
        )

    def test_enabling_needs_a_method_of_the_bank_account(self, acme, source):
        source.supported_methods = ["ach_debit"]
        source.save(update_fields=["supported_methods"])

        assert self.refused(
            acme, FundingMethodNotSupported, "fundingMethod", **COMPLETE | {"funding_method": "rtp"}
        )

    def test_another_tenants_source_is_unknown(self, acme, rival):
        foreign = make_source(rival)

        assert self.refused(acme, NotFound, None, **COMPLETE, source_id=foreign.pk)
        assert self.refused(acme, NotFound, None, source_id=foreign.pk)

    def test_an_amount_over_the_tenants_limit(self, acme, source):
        FundingLimit.objects.create(tenant=acme, ach_transaction_max=49_999)

        assert self.refused(acme, AmountAboveLimit, "fundingAmount", **COMPLETE)

    def test_switching_off_always_works(self, acme):
        make_auto_funding(acme, funding_amount=10**12)

        assert configure(acme, enabled=False).enabled is False

    def test_a_change_of_something_else_does_not_ask_for_the_bank_account(self, acme):
        make_auto_funding(acme)

        assert configure(acme, monthly_limit=5).monthly_limit == 5


class TestAPersonActs:
    def test_enabled_true_ends_a_pause_and_its_failures(self, rich, source):
        configure(rich, **COMPLETE)
        AutoFundingConfig.objects.update(failures_in_a_row=2)
        pauses.pause(tenant_id=rich.pk, reason="bank_returned_R03", now=NOW)

        config = configure(rich, NOW + timedelta(hours=1), enabled=True)

        assert (config.paused_reason, config.failures_in_a_row) == ("", 0)
        assert config.resumed_at == NOW + timedelta(hours=1)
        assert AuditEvent.objects.filter(action="auto_funding.resumed").count() == 1

    def test_another_change_does_not_end_it(self, rich, source):
        configure(rich, **COMPLETE)
        pauses.pause(tenant_id=rich.pk, reason="bank_returned_R03", now=NOW)

        assert configure(rich, funding_amount=60_000).paused_reason == "bank_returned_R03"

    def test_it_does_not_help_while_the_bank_account_is_unusable(self, rich, source):
        configure(rich, **COMPLETE)
        pauses.pause(tenant_id=rich.pk, reason="bank_returned_R03", now=NOW)
        sources.note_return(source=source, return_code="R03", now=NOW)

        with pytest.raises(IncompleteAutoFunding):
            configure(rich, enabled=True)

        assert AutoFundingConfig.objects.get().paused_reason == "bank_returned_R03"


class TestChangedTerms:
    @pytest.fixture
    def waiting(self, acme, source):
        """An automatic funding that waits for approval."""
        configure(acme, **COMPLETE, confirmation_threshold=0)
        return FundingTransaction.objects.get(status="awaiting_confirmation")

    def states(self, waiting):
        waiting.refresh_from_db()
        approval = Confirmation.objects.get(funding=waiting)
        return waiting.status, waiting.failure_code, approval.decision, approval.decided_by

    def test_a_new_amount_withdraws_the_approval_and_asks_again(self, acme, waiting):
        configure(acme, funding_amount=60_000)

        assert self.states(waiting) == (
            "failed",
            "confirmation_superseded",
            "superseded",
            "key_1",
        )
        asked_now = FundingTransaction.objects.get(status="awaiting_confirmation")
        assert asked_now.amount == 60_000
        assert balance_of(acme) == (0, 60_000, 0)
        assert AutoFundingConfig.objects.get().failures_in_a_row == 0

    def test_changing_them_again_and_again_is_no_runaway(self, acme, waiting):
        for amount in range(60_000, 60_005):
            configure(acme, funding_amount=amount)

        assert AutoFundingConfig.objects.get().paused_reason == ""
        assert FundingTransaction.objects.get(status="awaiting_confirmation").amount == 60_004

    def test_another_source_withdraws_it(self, acme, waiting):
        other = make_source(acme, account_number="222222")

        configure(acme, source_id=other.pk)

        assert self.states(waiting)[2] == "superseded"
        assert FundingTransaction.objects.get(status="awaiting_confirmation").source == other

    def test_another_method_withdraws_it(self, acme, waiting):
        configure(acme, funding_method="rtp")

        assert self.states(waiting)[2] == "superseded"

    def test_disabling_withdraws_it(self, acme, waiting):
        configure(acme, enabled=False)

        assert self.states(waiting)[2] == "superseded"
        assert balance_of(acme) == (0, 0, 0)

    def test_what_is_not_a_term_leaves_it_open(self, acme, waiting):
        configure(
            acme, low_balance_threshold=11_000, confirmation_emails=["a@b.example"], enabled=True
        )

        assert self.states(waiting) == ("awaiting_confirmation", "", "open", "")


def test_system_may_not_be_confused_with_a_person(acme, source):
    """The sweep never resumes: only `enabled: true` does."""
    make_auto_funding(acme, paused_reason="too_many_firings")

    auto_funding.evaluate(tenant_id=acme.pk, now=NOW)

    assert AutoFundingConfig.objects.get().paused_reason == "too_many_firings"
    assert not AuditEvent.objects.filter(actor_type=SYSTEM.type, action__contains="resumed")
