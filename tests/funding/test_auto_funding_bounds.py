"""What bounds auto-funding: a month's limit, its pace, and what became of the last one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from balance import services as ledger
from funding.models import AutoFundingConfig, Trigger
from funding.services import pauses
from funding.states import FundingStatus
from tests.balance.builders import balance_of, movement
from tests.builders import (
    NOW,
    mails_of,
    make_auto_funding,
    make_funding,
    make_member,
    notices_of,
)
from tests.funding.auto_funding import (
    HOUR,
    KEY,
    MINUTE,
    automatic,
    complete,
    evaluate,
    fail,
    log_of,
    move,
    paused_until,
)


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
