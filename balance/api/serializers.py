"""What the balance endpoints answer, for the schema."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from balance.kinds import PostingType


class BalanceSummaryOut(serializers.Serializer[Any]):
    """What the tenant has, in cents."""

    availableBalance = serializers.IntegerField(
        help_text="Spendable now; negative only after a bank return or a correction by staff."
    )
    pendingBalance = serializers.IntegerField(help_text="Funding on its way.")
    lockedBalance = serializers.IntegerField(help_text="Set aside for payments.")
    currency = serializers.CharField()


class BalanceAfterOut(serializers.Serializer[Any]):
    """The available and the locked balance after this line was posted."""

    availableBalance = serializers.IntegerField()
    lockedBalance = serializers.IntegerField()


class BalanceTransactionOut(serializers.Serializer[Any]):
    """One line of the statement. `balanceAfter` is the line before plus the deltas."""

    id = serializers.CharField()
    type = serializers.ChoiceField(choices=PostingType.values)
    amount = serializers.IntegerField(min_value=1)
    currency = serializers.CharField()
    availableDelta = serializers.IntegerField()
    lockedDelta = serializers.IntegerField()
    balanceAfter = BalanceAfterOut()
    sourceType = serializers.ChoiceField(
        choices=["funding_transaction", "payment", "adjustment", "return_dishonor"]
    )
    sourceId = serializers.CharField()
    description = serializers.CharField()
    createdAt = serializers.DateTimeField()
