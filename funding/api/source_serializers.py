"""Bodies in and out of the funding source endpoints.

Messages about fields that may hold an account number never repeat what was sent.
"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from api.bank_accounts import HOLDER_TYPES, BankAccountIn, BankAccountOut, HolderNameField
from api.fields import CentsField, PatternField, StrictChoiceField
from api.serializers import StrictSerializer
from funding.api.authorizations import AuthorizationIn
from funding.models import FundingMethod, SourceType, VerificationMethod
from funding.states import SourceStatus
from networks.bank_details import HOLDER_NAME_MAX

_TOKEN = r"[\x21-\x7e]+"  # noqa: S105  # the form of a token, not one

_TWO_AMOUNTS = "Send the two amounts in cents, such as [11, 22]."


class LinkedSourceIn(StrictSerializer):
    """A bank account at the bank-linking provider."""

    linkProcessorToken = PatternField(
        _TOKEN, message="This does not have the form of a token.", source="token", max_length=255
    )
    linkAccountId = PatternField(
        _TOKEN, message="This does not have the form of an id.", source="account_id", max_length=128
    )
    accountHolderName = HolderNameField(source="holder_name", max_length=HOLDER_NAME_MAX)
    accountHolderType = StrictChoiceField(
        HOLDER_TYPES,
        source="holder_type",
        required=False,
        help_text="Whose account it is, where the provider does not tell; what it tells counts.",
    )
    authorization = AuthorizationIn(source="agreement", required=False)


class ManualSourceIn(BankAccountIn):
    """A bank account by its numbers."""

    authorization = AuthorizationIn(source="agreement", required=False)


class VerificationIn(StrictSerializer):
    """What the account holder found on the bank statement."""

    amounts = serializers.ListField(
        child=CentsField(max_value=99),
        min_length=2,
        max_length=2,
        error_messages=dict.fromkeys(("not_a_list", "min_length", "max_length"), _TWO_AMOUNTS),
        help_text="The two deposits in cents, in any order.",
    )


class FundingSourceOut(BankAccountOut):
    """A bank account that may be drawn from."""

    id = serializers.CharField()
    type = serializers.ChoiceField(choices=SourceType.values)
    status = serializers.ChoiceField(choices=SourceStatus.values)
    verificationMethod = serializers.ChoiceField(choices=VerificationMethod.values)
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
