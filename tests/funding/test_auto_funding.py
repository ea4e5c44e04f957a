"""When auto-funding adds money, and when it says why not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction
from django.test import override_settings

from balance import selectors as balances
from balance import services as ledger
from common.money import AMOUNT_MAX
from funding.models import (
    AutoFundingConfig,
    AutoFundingDecision,
    FundingLimit,
    FundingTransaction,
    Trigger,
)
from funding.services import auto_funding, lifecycle, pauses, sources, topup_terms
from funding.states import FundingStatus
from tenants.actors import SYSTEM, api_key
from tenants.models import Mode, OutgoingEmail, Tenant
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

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
KEY = api_key("key_1")


def paused_until():
    until = AutoFundingConfig.objects.get().paused_until
    assert until is not None
    return until


def evaluate(tenant, now=NOW):
    return auto_funding.evaluate(tenant_id=tenant.pk, now=now)


def automatic(tenant):
    return FundingTransaction.objects.filter(tenant=tenant, trigger=Trigger.AUTO_FUNDING)


def log_of(tenant):
    rows = AutoFundingDecision.objects.filter(tenant=tenant).order_by("created_at", "pk")
    return [f"{row.outcome} {row.reason}" for row in rows]


def move(funding, target, now=NOW, **changes):
    with transaction.atomic():
        lifecycle.move(funding=funding, target=target, actor=SYSTEM, now=now, **changes)
        if target in {FundingStatus.COMPLETED, FundingStatus.FAILED}:
            auto_funding.after_outcome(funding=funding, now=now)


def complete(funding, now=NOW):
    for status in (FundingStatus.PENDING, FundingStatus.IN_TRANSIT, FundingStatus.COMPLETED):
        move(funding, status, now)


def fail(funding, code="R01", now=NOW):
    move(funding, FundingStatus.FAILED, now, failure_code=code)


def make_broken_auto_funding(tenant):
    """Settings that no check refuses and the database does: more cents than a row may hold."""
    FundingLimit.objects.create(tenant=tenant, ach_transaction_max=2 * AMOUNT_MAX)
    make_auto_funding(tenant, funding_amount=AMOUNT_MAX + 1)


@pytest.fixture
def source(acme):
    return make_source(acme)


@pytest.fixture
def config(acme, source):
    return make_auto_funding(acme)


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

    def test_an_error_in_it_never_breaks_the_posting(self, acme, source):
        make_broken_auto_funding(acme)
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
        source.save()
        make_auto_funding(acme, funding_method="rtp")

        assert self.declines(acme, "funding_method_not_supported")

    def test_of_a_live_tenant_without_a_network(self, db):
        live = make_tenant(name="Live", mode=Mode.LIVE)
        source = make_source(live)
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
            "reason": "Automatic funding may add $499.99 a month; $0.00 of that is used.",
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


class TestMonthlyLimit:
    def funded(self, tenant, source, at, **fields):
        values = {"status": FundingStatus.COMPLETED, "trigger": Trigger.AUTO_FUNDING}
        make_funding(tenant, source, amount=50_000, created_at=at, **(values | fields))

    def test_counts_what_did_not_fail_up_to_the_limit(self, acme, source):
        make_auto_funding(acme, monthly_limit=100_000)
        self.funded(acme, source, NOW)
        self.funded(acme, source, NOW, status=FundingStatus.FAILED)
        self.funded(acme, source, NOW, trigger=Trigger.TOPUP)

        assert evaluate(acme).outcome == "fired"

    def test_declines_above_it(self, acme, source):
        make_auto_funding(acme, monthly_limit=99_999)
        self.funded(acme, source, NOW)

        assert evaluate(acme).reason == "auto_funding_monthly_limit"

    @pytest.mark.parametrize(
        ("last_month_ends", "label"),
        [
            (datetime(2026, 12, 1, 5, 0, tzinfo=UTC), "winter: midnight in New York is 05:00 UTC"),
            (datetime(2026, 7, 1, 4, 0, tzinfo=UTC), "summer: 04:00 UTC"),
            (datetime(2026, 4, 1, 4, 0, tzinfo=UTC), "the month in which the clocks went forward"),
            (datetime(2026, 11, 1, 4, 0, tzinfo=UTC), "the day on which they go back"),
            (datetime(2027, 1, 1, 5, 0, tzinfo=UTC), "the end of the year"),
        ],
    )
    def test_months_begin_at_midnight_in_new_york(self, acme, source, last_month_ends, label):
        make_auto_funding(acme, monthly_limit=50_000)
        self.funded(acme, source, last_month_ends - timedelta(microseconds=1))

        assert evaluate(acme, last_month_ends - timedelta(microseconds=1)).outcome == "declined"
        assert evaluate(acme, last_month_ends).outcome == "fired", label

    def test_counts_from_the_first_moment_of_the_month(self, acme, source):
        make_auto_funding(acme, monthly_limit=50_000)
        self.funded(acme, source, datetime(2026, 11, 1, 4, 0, tzinfo=UTC))

        assert evaluate(acme, datetime(2026, 11, 30, 23, 0, tzinfo=UTC)).outcome == "declined"


class TestRunaway:
    def fire_and_complete(self, tenant, now):
        """One round: the balance is empty, money is added, arrives and is spent."""
        evaluate(tenant, now)
        complete(automatic(tenant).get(status="reserved"), now)

    def test_three_firings_in_ten_minutes_pause_it(self, acme, source):
        make_auto_funding(acme, low_balance_threshold=10_000_000, funding_amount=1)
        make_member(acme, email="owner@acme.example")

        evaluate(acme, NOW)
        for number in range(3):
            complete(automatic(acme).get(status="reserved"), NOW + number * MINUTE)

        assert automatic(acme).count() == 3
        config = AutoFundingConfig.objects.get()
        assert (config.paused_reason, config.paused_until) == ("too_many_firings", None)
        assert log_of(acme)[-1] == "declined too_many_firings"
        assert mails_of(acme, "auto_funding_paused") == ["owner@acme.example"]
        assert evaluate(acme, NOW + timedelta(days=30)) is None

    def test_spread_over_more_than_ten_minutes_is_fine(self, acme, source):
        make_auto_funding(acme, low_balance_threshold=10_000_000, funding_amount=1)

        evaluate(acme, NOW)
        for number in range(1, 6):
            complete(automatic(acme).get(status="reserved"), NOW + number * 4 * MINUTE)

        assert automatic(acme).count() == 6

    def test_a_person_may_start_it_again_at_once(self, acme, source):
        make_auto_funding(acme, low_balance_threshold=10_000_000, funding_amount=1)
        evaluate(acme, NOW)
        for _ in range(3):
            complete(automatic(acme).get(status="reserved"), NOW)

        pauses.resume(tenant_id=acme.pk, actor=KEY, now=NOW + MINUTE)

        assert evaluate(acme, NOW + MINUTE).outcome == "fired"


class TestAfterAnOutcome:
    def test_a_completed_funding_that_was_not_enough_is_followed_by_another(self, acme, source):
        make_auto_funding(acme, funding_amount=5_000)
        evaluate(acme)

        complete(automatic(acme).get())

        assert sorted(automatic(acme).values_list("status", flat=True)) == [
            "completed",
            "reserved",
        ]

    def test_a_failed_one_waits_1_6_24_hours_and_resumes_by_itself(self, acme, source, config):
        at, waits = NOW, []
        evaluate(acme, at)
        for _ in range(3):
            fail(automatic(acme).get(status="reserved"), now=at)
            until = paused_until()
            waits.append(until - at)
            assert not automatic(acme).filter(status="reserved").exists()
            evaluate(acme, until - timedelta(microseconds=1))
            assert not automatic(acme).filter(status="reserved").exists()
            at = until
            assert evaluate(acme, at).outcome == "fired"
            assert AutoFundingConfig.objects.get().paused_reason == ""

        assert waits == [1 * HOUR, 6 * HOUR, 24 * HOUR]
        assert len(notices_of(acme, "auto_funding.paused")) == 3

    def test_a_success_starts_the_waits_over(self, acme, source, config):
        evaluate(acme)
        fail(automatic(acme).get())
        evaluate(acme, NOW + HOUR)
        complete(automatic(acme).get(status="reserved"), NOW + HOUR)
        ledger.debit(**movement(acme, 50_000, now=NOW + HOUR))

        fail(automatic(acme).get(status="reserved"), now=NOW + HOUR)

        assert AutoFundingConfig.objects.get().paused_until == NOW + 2 * HOUR

    def test_a_late_return_is_not_answered_with_a_debit_to_the_same_account(
        self, acme, source, config
    ):
        evaluate(acme)
        funding = automatic(acme).get()
        complete(funding)

        move(
            funding,
            FundingStatus.FAILED,
            returned=True,
            returned_at=NOW,
            return_code="R10",
            failure_code="R10",
        )

        assert automatic(acme).count() == 1
        assert AutoFundingConfig.objects.get().paused_reason == "bank_returned_R10"
        assert balance_of(acme) == (0, 0, 0)
        assert log_of(acme) == ["fired below_threshold", "declined bank_returned_R10"]

    def test_a_top_up_that_fails_makes_room_for_an_automatic_one(self, acme, source, config):
        ledger.change_pending(tenant_id=acme.pk, delta=25_000)
        topup = make_funding(acme, source)

        fail(topup)

        assert automatic(acme).count() == 1


class TestSweep:
    def test_finds_who_is_low_and_was_missed(self, acme, rival, config):
        make_source(rival)
        make_auto_funding(rival)
        fund(rival, 10_000)

        assert auto_funding.sweep(now=NOW) == 1

        assert automatic(acme).count() == 1
        assert not automatic(rival).exists()

    def test_leaves_out_who_cannot_fire(self, acme, rival, source, config):
        make_funding(acme, source, trigger=Trigger.AUTO_FUNDING)
        make_source(rival)
        make_auto_funding(rival, paused_reason="too_many_firings")

        assert auto_funding.sweep(now=NOW) == 0

        assert log_of(acme) == log_of(rival) == []

    def test_asks_about_who_cannot_fire_only_now_and_then(
        self, acme, rival, source, config, django_assert_num_queries
    ):
        make_funding(acme, source, trigger=Trigger.AUTO_FUNDING)
        make_auto_funding(rival, paused_reason="too_many_firings")
        auto_funding.sweep(now=NOW)

        with django_assert_num_queries(2):  # recoveries, then who is due
            auto_funding.sweep(now=NOW + 9 * MINUTE)
        assert {*balances.low_tenants(now=NOW + 10 * MINUTE)} == {acme.pk, rival.pk}

    def test_looks_at_once_when_the_pause_is_over(self, acme, source):
        make_auto_funding(acme, paused_reason="waiting_after_failure", paused_until=NOW + MINUTE)

        assert auto_funding.sweep(now=NOW) == 0
        assert auto_funding.sweep(now=NOW + MINUTE) == 1

    def test_looks_at_once_when_a_suspension_is_lifted(self, acme, source):
        make_auto_funding(acme)
        accounts.suspend(tenant_id=acme.pk, actor=SYSTEM, now=NOW)
        assert auto_funding.sweep(now=NOW) == 0

        accounts.release(tenant_id=acme.pk, actor=SYSTEM, now=NOW + MINUTE)

        assert auto_funding.sweep(now=NOW + MINUTE) == 1

    def test_looks_at_once_when_a_person_resumes(self, acme, source):
        make_auto_funding(acme, paused_reason="too_many_firings")
        auto_funding.sweep(now=NOW)

        pauses.resume(tenant_id=acme.pk, actor=SYSTEM, now=NOW)

        assert auto_funding.sweep(now=NOW) == 1

    def test_looks_at_once_when_the_one_under_way_is_over(self, acme, source, config):
        under_way = make_funding(acme, source, trigger=Trigger.AUTO_FUNDING, amount=1)
        ledger.change_pending(tenant_id=acme.pk, delta=1)
        assert auto_funding.sweep(now=NOW) == 0

        lifecycle.move(funding=under_way, target=FundingStatus.FAILED, actor=SYSTEM, now=NOW)

        assert auto_funding.sweep(now=NOW) == 1

    def test_looks_again_at_who_is_suspended(self, acme, config):
        Tenant.objects.filter(pk=acme.pk).update(status="suspended")
        assert auto_funding.sweep(now=NOW) == 0
        Tenant.objects.filter(pk=acme.pk).update(status="active")

        assert auto_funding.sweep(now=NOW + 10 * MINUTE) == 1

    def test_forgets_who_was_low_when_it_is_switched_off(self, acme):
        make_auto_funding(acme)
        evaluate(acme)
        ledger.set_notify_below(tenant_id=acme.pk, amount=None)

        auto_funding.sweep(now=NOW)

        assert AutoFundingConfig.objects.get().low_since is None
        assert balances.recovered_tenants() == []

    def test_resumes_what_waited_long_enough(self, acme, source):
        make_auto_funding(acme, paused_reason="waiting_after_failure", paused_until=NOW)

        assert auto_funding.sweep(now=NOW - MINUTE) == 0
        assert auto_funding.sweep(now=NOW) == 1

        assert automatic(acme).count() == 1

    def test_notices_that_a_balance_recovered_without_us(self, acme):
        make_auto_funding(acme)
        evaluate(acme)
        fund(acme, 10_000)

        auto_funding.sweep(now=NOW)

        config = AutoFundingConfig.objects.get()
        assert (config.low_since, config.last_decline_reason) == (None, "")

    def test_one_tenant_that_breaks_does_not_stop_the_others(self, acme, rival, config):
        make_source(rival)
        make_broken_auto_funding(rival)

        assert auto_funding.sweep(now=NOW) == 1

        assert automatic(acme).count() == 1

    def test_finds_them_with_one_query(self, acme, rival, django_assert_num_queries):
        for tenant in (acme, rival):
            make_auto_funding(tenant)
            fund(tenant, 10_000)

        with django_assert_num_queries(2):  # recoveries, then who is due
            auto_funding.sweep(now=NOW)


class TestConfirmationDeadline:
    def deadline(self, tenant, amount):
        return topup_terms.approval_deadline(tenant_id=tenant.pk, amount=amount, now=NOW)

    def test_concerns_top_ups_only_where_the_tenant_wants_it(self, acme):
        config = make_auto_funding(acme, confirmation_threshold=10_000)
        assert self.deadline(acme, 10_001) is None

        config.confirm_topups = True
        config.save()
        assert self.deadline(acme, 10_001) == NOW + timedelta(hours=72)
        assert self.deadline(acme, 10_000) is None

    def test_holds_while_auto_funding_itself_is_off(self, acme):
        make_auto_funding(acme, enabled=False, confirmation_threshold=0, confirm_topups=True)

        assert self.deadline(acme, 1) == NOW + timedelta(hours=72)

    def test_without_a_threshold_or_settings_nobody_is_asked(self, acme, rival):
        make_auto_funding(acme, confirm_topups=True)

        assert self.deadline(acme, 10**9) is None
        assert self.deadline(rival, 10**9) is None
