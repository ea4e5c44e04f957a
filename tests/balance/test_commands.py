from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from balance.models import Adjustment, BalanceTransaction
from tests.balance.builders import balance_of


def adjust_balance(*arguments):
    output = StringIO()
    call_command("adjust_balance", *arguments, "--json", stdout=output)
    return json.loads(output.getvalue())


class TestAdjustBalance:
    def test_credits_and_says_which_balance_transaction_it_is(self, acme):
        result = adjust_balance(
            *("--tenant", acme.pk, "--type", "credit", "--amount", "1050", "--reason", "Goodwill")
        )

        assert result == {"balanceTransactionId": BalanceTransaction.objects.get().pk}
        assert balance_of(acme) == (1_050, 0, 0)
        assert Adjustment.objects.get().reason == "Goodwill"

    def test_debits(self, acme):
        adjust_balance(
            *("--tenant", acme.pk, "--type", "debit", "--amount", "5", "--reason", "Fee")
        )

        assert balance_of(acme) == (-5, 0, 0)

    @pytest.mark.parametrize(
        ("option", "value", "message"),
        [
            ("--tenant", "ten_x", "no tenant ten_x"),
            ("--amount", "0", "invalid_adjustment"),
            ("--amount", "-5", "invalid_adjustment"),
            ("--amount", "1.5", "invalid int"),
            ("--reason", " ", "invalid_adjustment"),
            ("--type", "lock", "invalid choice"),
        ],
    )
    def test_refuses_what_makes_no_sense_and_writes_nothing(self, acme, option, value, message):
        options = {"--tenant": acme.pk, "--type": "credit", "--amount": "5", "--reason": "Fee"}

        with pytest.raises(CommandError, match=message):
            call_command(
                "adjust_balance",
                *[f"{name}={text}" for name, text in (options | {option: value}).items()],
            )

        assert Adjustment.objects.count() == 0
        assert BalanceTransaction.objects.count() == 0
