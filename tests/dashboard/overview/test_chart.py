"""The drawing of the balance over time."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from balance import services as ledger
from dashboard.overview import chart
from tests.balance.builders import fund, movement
from tests.builders import NOW

MONDAY = date(2026, 11, 16)


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

        drawn = chart.chart(tenant_id=acme.pk, threshold=None, span=7, now=NOW)

        assert [(row.day.day, row.available) for row in drawn.days][-3:] == [
            (18, 0),
            (19, 50_000),
            (20, 30_000),
        ]
