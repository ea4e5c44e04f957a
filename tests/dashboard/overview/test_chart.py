"""The drawing of the balance over time."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from balance import services as ledger
from dashboard.overview import chart
from funding.models import AutoFundingConfig, AutoFundingDecision
from tests.balance.builders import fund, movement
from tests.builders import NOW, make_auto_funding

MONDAY = date(2026, 11, 16)


def unset(tenant):
    return AutoFundingConfig(tenant_id=tenant.pk)


def draw(*amounts, threshold=None):
    period = [MONDAY + timedelta(days=n) for n in range(len(amounts))]
    return chart.draw(period, amounts, threshold=threshold)


class TestDrawing:
    def test_puts_amounts_between_zero_and_a_round_top(self):
        drawn = draw(0, 50_000, 100_000)

        assert drawn.ticks == ["$1,000", "$500", "$0"]
        assert drawn.line == "0,200.0 120.0,200.0 360.0,100.0 600.0,0.0 720,0.0"
        assert drawn.zero_y == 200

    def test_goes_below_zero_where_the_balance_did(self):
        drawn = draw(-10_000, 10_000)

        assert drawn.ticks == ["$100", "$0", "\N{MINUS SIGN}$100"]
        assert drawn.zero_y == 100

    def test_has_room_for_a_threshold_above_all(self):
        drawn = draw(100, threshold=20_000)

        assert drawn.ticks[0] == "$200"
        assert drawn.threshold_y == 0

    @pytest.mark.parametrize("amount", [0, 1])
    def test_of_nothing_is_a_line_on_the_ground(self, amount):
        assert draw(amount, amount).ticks == ["$1", "$0.50", "$0"]

    def test_is_empty_where_there_never_was_money(self):
        assert draw(0, 0).is_empty
        assert draw(0, 0, threshold=20_000).is_empty
        assert not draw(0, 1).is_empty
        assert not draw(-1, -1).is_empty

    def test_names_the_extremes(self):
        drawn = draw(300, 100, 500)

        assert (drawn.lowest.day, drawn.highest.available) == (MONDAY + timedelta(days=1), 500)

    def test_takes_the_largest_balance_there_can_be(self):
        assert draw(10**15).ticks[0] == "$10,000,000,000,000"


class TestChart:
    def test_shows_the_balance_at_the_ends_of_eastern_days(self, acme):
        evening = NOW.replace(hour=4)  # 11 p.m. on the 19th in New York
        fund(acme, 50_000, now=evening)
        ledger.lock(**movement(acme, 20_000, now=NOW))

        drawn = chart.chart(tenant_id=acme.pk, config=unset(acme), span=7, now=NOW)

        assert [(row.day.day, row.available) for row in drawn.days][-3:] == [
            (18, 0),
            (19, 50_000),
            (20, 30_000),
        ]

    def test_marks_the_eastern_days_on_which_auto_funding_fired(self, acme, rival):
        decided(acme, 50_000, at=NOW.replace(hour=4))  # 11 p.m. on the 19th in New York
        decided(acme, 20_000, at=NOW.replace(hour=4))
        decided(acme, 30_000, at=NOW)
        decided(acme, 99_000, at=NOW, outcome="declined")
        decided(acme, 88_000, at=NOW - timedelta(days=7))
        decided(rival, 77_000, at=NOW)

        drawn = chart.chart(tenant_id=acme.pk, config=fired_last(acme, at=NOW), span=7, now=NOW)

        assert [(row.day.day, row.fired) for row in drawn.fired] == [(19, 70_000), (20, 30_000)]

    def test_does_not_ask_for_markers_where_auto_funding_did_nothing(
        self, acme, django_assert_num_queries
    ):
        long_ago = fired_last(acme, at=NOW - timedelta(days=8))

        with django_assert_num_queries(1):
            chart.chart(tenant_id=acme.pk, config=long_ago, span=7, now=NOW)


class TestRunway:
    def test_divides_what_is_left_by_the_mean_of_the_last_fourteen_whole_days(self, acme):
        fund(acme, 200_000, now=NOW - timedelta(days=20))
        for back in range(14, 0, -1):
            ledger.lock(**movement(acme, 10_000, now=NOW - timedelta(days=back)))
        ledger.lock(**movement(acme, 5_000, now=NOW))  # of today, which is not over

        found = lasting(acme, span=7)

        assert (found.pace, found.counted) == (10_000, 14)
        assert (found.days, found.until) == (5, date(2026, 11, 25))

    def test_counts_neither_money_added_nor_payments_that_were_canceled(self, acme):
        begun = NOW - timedelta(days=4)
        fund(acme, 100_000, now=begun)
        canceled = movement(acme, 40_000, now=begun)
        ledger.lock(**canceled)
        ledger.unlock(**canceled)
        ledger.lock(**movement(acme, 8_000, now=begun))
        fund(acme, 60_000, now=NOW - timedelta(days=2))
        taken_back = {"source_type": "funding_transaction"}
        ledger.debit(**movement(acme, 30_000, now=NOW - timedelta(days=1), **taken_back))

        found = lasting(acme, span=30)

        assert (found.pace, found.counted, found.days) == (2_000, 4, 61)

    @pytest.mark.parametrize(("days_of_data", "is_known"), [(2, False), (3, True)])
    def test_says_nothing_before_there_are_three_days_of_data(self, acme, days_of_data, is_known):
        begun = NOW - timedelta(days=days_of_data)
        fund(acme, 100_000, now=begun)
        ledger.lock(**movement(acme, 300, now=begun))

        assert (lasting(acme, span=7) is not None) == is_known

    def test_says_nothing_where_nothing_was_spent(self, acme):
        fund(acme, 100_000, now=NOW - timedelta(days=9))

        assert lasting(acme, span=7) is None

    @pytest.mark.parametrize("spent_today", [7_000, 9_000])
    def test_says_nothing_once_nothing_is_left(self, acme, spent_today):
        begun = NOW - timedelta(days=5)
        fund(acme, 10_000, now=begun)
        ledger.lock(**movement(acme, 3_000, now=begun))
        taken = {"source_type": "funding_transaction"}
        ledger.debit(**movement(acme, spent_today, now=NOW, **taken))

        assert lasting(acme, span=7) is None

    def test_never_looks_further_than_a_year(self, acme):
        begun = NOW - timedelta(days=5)
        fund(acme, 10**12, now=begun)
        ledger.lock(**movement(acme, 1, now=begun))

        found = lasting(acme, span=7)

        assert found.is_long
        assert found.until == date(2027, 11, 20)


def lasting(tenant, *, span):
    return chart.chart(tenant_id=tenant.pk, config=unset(tenant), span=span, now=NOW).runway


def fired_last(tenant, *, at):
    return make_auto_funding(tenant, last_triggered_at=at)


def decided(tenant, amount, *, at, outcome="fired"):
    AutoFundingDecision.objects.create(
        tenant=tenant,
        outcome=outcome,
        reason="below_threshold",
        available=0,
        in_flight=0,
        threshold=0,
        amount=amount,
        created_at=at,
    )
