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
            ({}, "We add $500.00 when your balance drops below $200.00."),
            (
                {"account": "First Bank ··1234"},
                "We add $500.00 from First Bank ··1234 when your balance drops below $200.00.",
            ),
            (
                {"approval_above": 50_000},
                "We add $500.00 when your balance drops below $200.00. Above $500.00, ana@acme.test"
                " must approve it first.",
            ),
            (
                {"approval_above": 49_999},
                "We add $500.00 when your balance drops below $200.00. Each time, ana@acme.test"
                " must approve it first.",
            ),
            (
                {"approval_above": 0, "approvers": ()},
                "We add $500.00 when your balance drops below $200.00. Each time, an approver must"
                " approve it first.",
            ),
            (
                {"monthly_limit": 100_000},
                "We add $500.00 when your balance drops below $200.00. We add at most $1,000.00 a"
                " month.",
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
                "You spent nothing in the last 30 days, so there is nothing to test this rule on.",
            ),
            (
                {"firings": 0},
                "In the last 30 days you spent $900.00. This rule would not have added any money.",
            ),
            (
                {},
                "In the last 30 days you spent $900.00. This rule would have added money 3 times,"
                " $1,500.00 in total.",
            ),
            (
                {"is_capped": True, "days_short": 1},
                "In the last 30 days you spent $900.00. This rule would have added money 3 times,"
                " $1,500.00 in total. The monthly limit would have stopped it. On one day the"
                " balance would have run out before the money arrived. A higher limit would help.",
            ),
            (
                {"days_short": 2},
                "In the last 30 days you spent $900.00. This rule would have added money 3 times,"
                " $1,500.00 in total. On 2 days the balance would have run out before the money"
                " arrived. A higher threshold or amount would help.",
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
