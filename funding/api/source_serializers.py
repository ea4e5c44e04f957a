"""Bodies in and out of the funding source endpoints.

Messages about fields that may hold an account number never repeat what was sent.
"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from api.fields import PatternField, StrictChoiceField, StrictIntegerField, TextField
from api.serializers import StrictSerializer
from funding.bank_details import HOLDER_NAME_MAX
from funding.models import (
    AccountType,
    FundingMethod,
    HolderType,
    SourceType,
    VerificationMethod,
)
from funding.states import SourceStatus

_TOKEN = r"[\x21-\x7e]+"  # noqa: S105  # the form of a token, not one
_NUMBER_WITH_SPACES_MAX = 40


def _one_of(choices: type[HolderType | AccountType]) -> dict[str, str]:
    return {"invalid_choice": f"Send {' or '.join(choices.values)}."}


class LinkedSourceIn(StrictSerializer):
    """A bank account at the bank-linking provider."""

    linkProcessorToken = PatternField(
        _TOKEN, message="This does not have the form of a token.", source="token", max_length=255
    )
    linkAccountId = PatternField(
        _TOKEN, message="This does not have the form of an id.", source="account_id", max_length=128
    )
    accountHolderName = TextField(source="holder_name", max_length=HOLDER_NAME_MAX)


class ManualSourceIn(StrictSerializer):
    """A bank account by its numbers."""

    accountNumber = TextField(
        source="account_number",
        trim_whitespace=False,
        max_length=_NUMBER_WITH_SPACES_MAX,
        help_text="4–17 letters, digits or hyphens; spaces are dropped. Never shown again.",
    )
    routingNumber = TextField(
        source="routing_number", trim_whitespace=False, max_length=9, help_text="ABA, nine digits."
    )
    accountHolderName = TextField(source="holder_name", max_length=HOLDER_NAME_MAX)
    accountHolderType = StrictChoiceField(
        HolderType.values, source="holder_type", error_messages=_one_of(HolderType)
    )
    accountType = StrictChoiceField(
        AccountType.values, source="account_type", error_messages=_one_of(AccountType)
    )


class VerificationIn(StrictSerializer):
    """What the account holder found on the bank statement."""

    amounts = serializers.ListField(
        child=StrictIntegerField(min_value=1, max_value=99),
        min_length=2,
        max_length=2,
        help_text="The two deposits in cents, in any order.",
    )


class FundingSourceOut(serializers.Serializer[Any]):
    """A bank account that may be drawn from."""

    id = serializers.CharField()
    type = serializers.ChoiceField(choices=SourceType.values)
    status = serializers.ChoiceField(choices=SourceStatus.values)
    verificationMethod = serializers.ChoiceField(choices=VerificationMethod.values)
    bankName = serializers.CharField(allow_null=True)
    last4 = serializers.CharField(help_text="Fewer than four for a very short account number.")
    routingNumber = serializers.CharField()
    accountHolderName = serializers.CharField()
    accountHolderType = serializers.ChoiceField(choices=HolderType.values)
    accountType = serializers.ChoiceField(choices=AccountType.values)
    supportedMethods = serializers.ListField(
        child=serializers.ChoiceField(choices=FundingMethod.values)
    )
    isDefault = serializers.BooleanField()
    lastReturnCode = serializers.CharField(allow_null=True)
    createdAt = serializers.DateTimeField()
    removedAt = serializers.DateTimeField(allow_null=True)


class RemovedSourceOut(serializers.Serializer[Any]):
    """What is left of a removed bank account."""

    id = serializers.CharField()
    status = serializers.ChoiceField(choices=[SourceStatus.REMOVED.value])
    removedAt = serializers.DateTimeField()
