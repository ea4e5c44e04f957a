"""When auto-funding adds money, and when it says why not."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.test import override_settings

from balance import services as ledger
from funding.models import AutoFundingConfig, FundingLimit, FundingTransaction, Trigger
from funding.services import pauses, sources
from tenants.actors import SYSTEM
from tenants.models import Mode, OutgoingEmail
from tenants.services import accounts
from tests.balance.builders import balance_of, fund, movement
from tests.builders import (
    NOW,
    mails_of,
    make_auto_funding,
    make_funding,
    make_member,
    make_source,
    make_tenant,
    notices_of,
)
from tests.funding.auto_funding import (
    automatic,
    complete,
    evaluate,
    log_of,
    make_broken_auto_funding,
)
from tests.funding.live_network import make_early_source


class TestFires:
    def test_below_the_threshold_it_adds_exactly_the_amount(self, acme, source, config):
        fund(acme, 9_999)

        decision = evaluate(acme)

        funding = automatic(acme).get()
        assert (funding.amount, funding.status, funding.method) == (
            50_000,
            "reserved",
            "ach_debit",
        )
        assert (funding.source_id, funding.network) == (source.pk, "sandbox")
        assert (funding.created_by_type, funding.created_by_id) == ("system", "")
        assert funding.next_attempt_at == NOW
        assert (decision.outcome, decision.reason) == ("fired", "below_threshold")
        assert (decision.available, decision.in_flight) == (9_999, 0)
        assert (decision.threshold, decision.amount, decision.funding) == (10_000, 50_000, funding)
        config.refresh_from_db()
        assert config.last_triggered_at == NOW
        assert balance_of(acme) == (9_999, 50_000, 0)

    def test_at_the_threshold_it_does_not(self, acme, config):
        fund(acme, 10_000)

        assert evaluate(acme) is None

        assert not automatic(acme).exists()
        assert log_of(acme) == []

    def test_money_on_its_way_counts(self, acme, config):
        fund(acme, 4_000)
        ledger.change_pending(tenant_id=acme.pk, delta=6_000)

        assert evaluate(acme) is None

        ledger.change_pending(tenant_id=acme.pk, delta=-1)
        assert evaluate(acme).outcome == "fired"

    def test_a_tenant_without_any_balance_yet(self, acme, config):
        assert evaluate(acme).outcome == "fired"

    def test_draws_on_the_named_source_rather_than_the_default(self, acme, source):
        named = make_source(acme, account_number="222222")
        make_auto_funding(acme, source=named)

        evaluate(acme)

        assert automatic(acme).get().source == named

    def test_says_once_that_the_balance_is_low(self, acme, config):
        fund(acme, 9_000)

        evaluate(acme)
        evaluate(acme)

        assert notices_of(acme, "balance.low") == [
            {"availableBalance": 9_000, "pendingBalance": 0, "lowBalanceThreshold": 10_000}
        ]

    def test_says_it_again_after_the_balance_had_recovered(self, acme, config):
        evaluate(acme)
        complete(automatic(acme).get())
        ledger.debit(**movement(acme, 45_000))

        assert len(notices_of(acme, "balance.low")) == 2

    def test_nothing_while_disabled_or_never_configured(self, acme, rival):
        make_source(acme)
        make_auto_funding(acme, enabled=False)

        assert (evaluate(acme), evaluate(rival)) == (None, None)

        assert not FundingTransaction.objects.exists()

    def test_a_larger_amount_than_the_confirmation_threshold_waits_for_a_person(self, acme, source):
        make_auto_funding(acme, confirmation_threshold=49_999)
        make_member(acme, email="owner@acme.example")

        decision = evaluate(acme)

        funding = automatic(acme).get()
        assert funding.status == "awaiting_confirmation"
        assert funding.confirmation_expires_at == NOW + timedelta(hours=72)
        assert funding.next_attempt_at is None
        assert decision.reason == "awaiting_confirmation"
        assert mails_of(acme, "confirmation_request") == ["owner@acme.example"]

    def test_exactly_the_confirmation_threshold_needs_nobody(self, acme, source):
        make_auto_funding(acme, confirmation_threshold=50_000)

        evaluate(acme)

        assert automatic(acme).get().status == "reserved"

    def test_a_confirmation_threshold_of_zero_asks_every_time(self, acme, source):
        make_auto_funding(acme, confirmation_threshold=0, funding_amount=1)

        evaluate(acme)

        assert automatic(acme).get().status == "awaiting_confirmation"

    def test_the_log_says_when_there_was_nobody_to_ask(self, acme, source):
        make_auto_funding(acme, confirmation_threshold=0)

        assert evaluate(acme).reason == "awaiting_confirmation_nobody_asked"


class TestFiresInThePosting:
    def test_the_debit_that_crosses_the_threshold_funds_at_once(self, acme, config):
        fund(acme, 30_000)

        ledger.debit(**movement(acme, 20_001))

        assert automatic(acme).get().created_at == NOW

    def test_a_lock_does_it_too(self, acme, config):
        fund(acme, 30_000)

        ledger.lock(**movement(acme, 25_000))

        assert automatic(acme).count() == 1

    def test_is_undone_with_the_posting(self, acme, config):
        fund(acme, 30_000)

        with transaction.atomic():
            ledger.debit(**movement(acme, 25_000))
            transaction.set_rollback(True)

        assert not automatic(acme).exists()
        assert balance_of(acme) == (30_000, 0, 0)

    def test_an_error_in_it_never_breaks_the_posting(self, acme, source, connect):
        make_broken_auto_funding(acme, connect)
        fund(acme, 30_000)

        with transaction.atomic():
            ledger.debit(**movement(acme, 25_000))

        assert balance_of(acme) == (5_000, 0, 0)
        assert not automatic(acme).exists()


class TestDeclines:
    """In the order in which the reasons are asked for; each is logged once and told once."""

    def declines(self, tenant, reason, *, told=True):
        assert evaluate(tenant).reason == reason
        assert evaluate(tenant) is None
        assert log_of(tenant) == [f"declined {reason}"]
        skipped = [notice["reason"] for notice in notices_of(tenant, "auto_funding.skipped")]
        assert skipped == ([reason] if told else [])
        return True

    def test_while_suspended(self, acme, config):
        accounts.suspend(tenant_id=acme.pk, actor=SYSTEM, now=NOW)

        assert self.declines(acme, "tenant_suspended")

    def test_while_an_automatic_funding_is_in_flight(self, acme, source, config):
        make_funding(acme, source, trigger=Trigger.AUTO_FUNDING)

        assert self.declines(acme, "already_in_flight", told=False)

    def test_while_paused(self, acme, source, config):
        pauses.pause(tenant_id=acme.pk, reason="bank_returned_R10", now=NOW)

        assert self.declines(acme, "bank_returned_R10", told=False)

    def test_without_a_bank_account(self, acme):
        make_auto_funding(acme)

        assert self.declines(acme, "no_funding_source")

    def test_with_an_unverified_bank_account(self, acme):
        make_auto_funding(acme, source=make_source(acme, account_number="50001"))

        assert self.declines(acme, "funding_source_not_verified")

    def test_with_a_bank_account_that_ended(self, acme, source, config):
        sources.note_return(source=source, return_code="R02", now=NOW)

        assert self.declines(acme, "funding_source_unusable")

    def test_with_a_removed_bank_account(self, acme, source):
        config = make_auto_funding(acme, source=source)
        sources.remove(tenant_id=acme.pk, source_id=source.pk, actor=SYSTEM, now=NOW)
        AutoFundingConfig.objects.filter(pk=config.pk).update(paused_reason="")

        assert self.declines(acme, "funding_source_unusable")

    def test_by_a_method_the_account_cannot(self, acme, source):
        source.supported_methods = ["ach_debit"]
        source.save(update_fields=["supported_methods"])
        make_auto_funding(acme, funding_method="rtp")

        assert self.declines(acme, "funding_method_not_supported")

    def test_of_a_live_tenant_without_a_network(self, db):
        live = make_tenant(name="Live", mode=Mode.LIVE)
        source = make_early_source(live)
        type(source).objects.filter(pk=source.pk).update(status="active", is_default=True)
        make_auto_funding(live)

        assert self.declines(live, "no_network")

    def test_over_the_transaction_limit(self, acme, source, config):
        FundingLimit.objects.create(tenant=acme, ach_transaction_max=49_999)

        assert self.declines(acme, "amount_above_limit")

    @override_settings(DAILY_FUNDING_MAX=49_999)
    def test_over_the_daily_limit(self, acme, source, config):
        assert self.declines(acme, "daily_limit_exceeded")

    def test_over_the_monthly_limit_of_auto_funding(self, acme, source):
        make_auto_funding(acme, monthly_limit=49_999)
        make_member(acme, email="owner@acme.example")

        assert self.declines(acme, "auto_funding_monthly_limit")
        mail = OutgoingEmail.objects.get(template="auto_funding_skipped")
        assert mail.to == "owner@acme.example"
        assert mail.context == {
            "tenant_name": "Acme",
            "reason": "At most $499.99 a month is added automatically. $0.00 was asked for this"
            " month, so $499.99 is left.",
            "available": 0,
            "threshold": 10_000,
            "amount": 50_000,
        }

    def test_another_reason_is_news_again(self, acme, source, config):
        accounts.suspend(tenant_id=acme.pk, actor=SYSTEM, now=NOW)
        evaluate(acme)
        accounts.release(tenant_id=acme.pk, actor=SYSTEM, now=NOW)
        FundingLimit.objects.create(tenant=acme, ach_transaction_max=1)
        evaluate(acme)

        assert log_of(acme) == ["declined tenant_suspended", "declined amount_above_limit"]

    def test_the_same_reason_is_news_after_a_recovery(self, acme):
        make_auto_funding(acme)
        evaluate(acme)
        fund(acme, 10_000)
        evaluate(acme)
        ledger.debit(**movement(acme, 1))

        assert log_of(acme) == ["declined no_funding_source"] * 2
