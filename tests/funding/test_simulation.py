"""What auto-funding would have done."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from balance import services as ledger
from common import days
from funding import simulation
from funding.models import FundingMethod
from funding.simulation import Rule
from tests.balance.builders import fund, movement
from tests.builders import NOW
from tests.networks.scripted import BankOfOneLimit

pytestmark = pytest.mark.django_db  # which network serves a mode says a row

MONDAY = date(2026, 11, 2)


def rule(**fields):
    values: dict[str, Any] = {"threshold": 20_000, "amount": 50_000, "method": FundingMethod.RTP}
    values["mode"] = "sandbox"
    return Rule(**(values | fields))


def replay(*spending, opening=20_000, first=MONDAY, **fields):
    by_day = {first + timedelta(days=n): spent for n, spent in enumerate(spending)}
    return simulation.replay(rule(**fields), by_day, opening=opening)


class TestReplay:
    def test_without_spending_never_fires(self):
        found = replay(0, 0, 0)

        assert (found.firings, found.funded, found.spent, found.days) == (0, 0, 0, 3)

    def test_stays_silent_at_the_threshold_and_fires_a_cent_below(self):
        assert replay(5_000, opening=25_000).firings == 0
        assert replay(5_001, opening=25_000).firings == 1

    def test_starts_where_the_rule_would_have_kept_the_balance(self):
        assert replay(0, opening=0).firings == 0

    def test_by_rtp_fires_as_often_as_a_day_needs(self):
        found = replay(120_000)

        assert (found.firings, found.funded, found.days_short) == (3, 150_000, 0)

    def test_by_ach_has_one_in_flight_at_a_time(self):
        # Fired on Monday at noon: settled on Tuesday, counted on from Thursday.
        found = replay(45_000, 0, 0, 0, 0, method=FundingMethod.ACH_DEBIT)

        assert (found.firings, found.days_short) == (1, 3)

    def test_by_ach_fires_again_when_the_first_arrives_and_is_not_enough(self):
        found = replay(90_000, 0, 0, 0, 0, method=FundingMethod.ACH_DEBIT)

        assert (found.firings, found.funded) == (2, 100_000)

    def test_stops_at_the_monthly_limit_and_says_so(self):
        found = replay(200_000, monthly_limit=100_000)

        assert (found.firings, found.is_capped) == (2, True)

    def test_begins_a_month_with_a_fresh_limit(self):
        found = replay(50_000, 50_000, first=date(2026, 10, 31), monthly_limit=50_000)

        assert (found.firings, found.is_capped) == (2, False)

    @pytest.mark.parametrize("income", [-1, -90_000])
    def test_of_a_day_that_earned_does_not_fire(self, income):
        assert replay(income).firings == 0


class TestSimulate:
    def test_counts_spending_and_leaves_out_what_funding_added(self, acme):
        fund(acme, 100_000, now=NOW - timedelta(days=20))
        ledger.lock(**movement(acme, 30_000, now=NOW - timedelta(days=10)))
        fund(acme, 40_000, now=NOW - timedelta(days=9))
        ledger.lock(**movement(acme, 25_000, now=NOW - timedelta(hours=1)))

        found = simulation.simulate(tenant_id=acme.pk, rule=rule(), now=NOW)

        assert (found.spent, found.firings, found.funded) == (55_000, 2, 100_000)

    def test_starts_from_what_there_was_thirty_days_ago(self, acme):
        fund(acme, 100_000, now=NOW - timedelta(days=45))
        ledger.lock(**movement(acme, 80_000, now=NOW - timedelta(days=2)))

        assert simulation.simulate(tenant_id=acme.pk, rule=rule(), now=NOW).firings == 0

    def test_goes_by_the_terms_of_the_tenants_network(self, acme, connect):
        """A network whose ACH debits arrive at once, around the clock."""
        spending = {"method": FundingMethod.ACH_DEBIT, "amount": 10_000}
        assert replay(60_000, **spending).firings == 1  # one at a time

        connect(BankOfOneLimit(100_000, cutoffs=()))

        assert replay(60_000, **spending).firings == 6
        assert replay(60_000, **spending, mode="live").firings == 1

    def test_reads_as_much_for_many_lines_as_for_none(self, acme, django_assert_num_queries):
        for day in range(60):
            fund(acme, 1_000, now=NOW - timedelta(days=59 - day))

        with django_assert_num_queries(2):
            simulation.simulate(tenant_id=acme.pk, rule=rule(), now=NOW)


class TestDays:
    def test_are_eastern(self):
        # 03:00 UTC on the 20th is still the 19th in New York.
        late = NOW.replace(hour=3)

        assert days.last_days(late, 2) == [date(2026, 11, 18), date(2026, 11, 19)]
        assert days.start_of(date(2026, 11, 19)).isoformat() == "2026-11-19T05:00:00+00:00"
        assert days.start_of(date(2026, 7, 1)).isoformat() == "2026-07-01T04:00:00+00:00"

    @pytest.mark.parametrize(
        ("month", "following"),
        [(date(2026, 1, 31), date(2026, 2, 1)), (date(2026, 12, 5), date(2027, 1, 1))],
    )
    def test_know_the_next_month(self, month, following):
        assert days.next_month(month) == following
