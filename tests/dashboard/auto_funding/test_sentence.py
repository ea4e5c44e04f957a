"""The rule in a sentence, and what it would have done."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.auto_funding import state as auto_funding
from funding.simulation import Simulation


class TestSentence:
    def plan(self, **fields):
        values: dict[str, Any] = {
            "amount": 50_000,
            "threshold": 20_000,
            "account": "",
            "approval_above": None,
            "approvers": ("ana@acme.test",),
            "monthly_limit": None,
        }
        return auto_funding.plan(**(values | fields))

    @pytest.mark.parametrize(
        ("fields", "sentence"),
        [
            ({}, "Will add $500.00 when you drop below $200.00."),
            (
                {"account": "First Bank ··1234"},
                "Will add $500.00 from First Bank ··1234 when you drop below $200.00.",
            ),
            (
                {"approval_above": 50_000},
                "Will add $500.00 when you drop below $200.00; above $500.00 ana@acme.test is"
                " asked first.",
            ),
            (
                {"approval_above": 49_999},
                "Will add $500.00 when you drop below $200.00; ana@acme.test is asked first, each"
                " time.",
            ),
            (
                {"approval_above": 0, "approvers": ()},
                "Will add $500.00 when you drop below $200.00; somebody is asked first, each time.",
            ),
            (
                {"monthly_limit": 100_000},
                "Will add $500.00 when you drop below $200.00. At most $1,000.00 a month.",
            ),
        ],
    )
    def test_says_what_the_rule_does(self, fields, sentence):
        assert self.plan(**fields) == sentence

    @pytest.mark.parametrize(
        ("addresses", "text"),
        [
            ([], "nobody yet"),
            (["a", "b"], "a or b"),
            (["a", "b", "c", "d"], "a or 3 others"),
        ],
    )
    def test_names_who_is_asked(self, addresses, text):
        assert auto_funding.people(addresses) == text

    @pytest.mark.parametrize(
        ("fields", "sentence"),
        [
            (
                {"spent": 0, "firings": 0},
                "Nothing was spent in the last 30 days, so there is nothing to try it on.",
            ),
            (
                {"firings": 0},
                "With the last 30 days' spending of $900.00 it would not have fired.",
            ),
            (
                {},
                "With the last 30 days' spending of $900.00 this would have fired 3 times,"
                " $1,500.00 in all.",
            ),
            (
                {"is_capped": True, "days_short": 1},
                "With the last 30 days' spending of $900.00 this would have fired 3 times,"
                " $1,500.00 in all. The monthly limit would have stopped it. On one day the money"
                " would have come too late: a higher limit helps.",
            ),
            (
                {"days_short": 2},
                "With the last 30 days' spending of $900.00 this would have fired 3 times,"
                " $1,500.00 in all. On 2 days the money would have come too late: a higher"
                " threshold or amount helps.",
            ),
        ],
    )
    def test_says_what_it_would_have_done(self, fields, sentence):
        values: dict[str, Any] = {
            "days": 30,
            "spent": 90_000,
            "firings": 3,
            "funded": 150_000,
            "days_short": 0,
            "is_capped": False,
        }
        assert auto_funding.outcome(Simulation(**(values | fields))) == sentence
