"""Bodies in and out of the auto-funding endpoints. Amounts are cents."""

from __future__ import annotations

from typing import Any, ClassVar

from django.core.validators import EmailValidator
from rest_framework import serializers

from api.fields import CentsField, MethodField, StrictBooleanField, TextField, UniqueListField
from api.serializers import StrictSerializer
from funding.methods import METHODS
from funding.models import DecisionOutcome, FundingMethod
from funding.services.auto_funding_config import CONFIRMATION_EMAILS_MAX

# What the reference shows. The validator also takes quoted names and international domains.
_ORDINARY_ADDRESS = r"^[A-Za-z0-9_+-]+(\.[A-Za-z0-9_+-]+)*@([A-Za-z0-9]+\.)+[A-Za-z]{2,63}$"


class ApproverEmailField(TextField):
    """An e-mail address, in lower case from here on."""

    schema: ClassVar = {"format": "email", "pattern": _ORDINARY_ADDRESS}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.validators.append(EmailValidator())

    def to_internal_value(self, data: Any) -> str:
        return super().to_internal_value(data).lower()


class ConfirmationEmailsField(UniqueListField):
    """A few addresses, each once."""

    child = ApproverEmailField(max_length=254)

    default_error_messages: ClassVar = {"duplicate": "Each address may be given once."}


class AutoFundingConfigIn(StrictSerializer):
    """What to change. A field left out keeps its value; `null` clears those that allow it."""

    enabled = StrictBooleanField(required=False)
    lowBalanceThreshold = CentsField(
        required=False,
        min_value=0,
        source="low_balance_threshold",
        help_text="Cents. Money is added when available plus pending is below this.",
    )
    fundingAmount = CentsField(
        required=False, source="funding_amount", help_text="Cents added each time."
    )
    fundingMethod = MethodField(
        FundingMethod.values, offered=lambda: METHODS, required=False, source="funding_method"
    )
    confirmationThreshold = CentsField(
        required=False,
        allow_null=True,
        min_value=0,
        source="confirmation_threshold",
        help_text="Cents. A larger amount waits for an approval by e-mail; null: never.",
    )
    fundingSourceId = TextField(
        required=False,
        allow_null=True,
        max_length=64,
        source="source_id",
        help_text="null: the default source.",
    )
    monthlyLimit = CentsField(
        required=False,
        allow_null=True,
        source="monthly_limit",
        help_text="Cents that may be added automatically in an Eastern calendar month.",
    )
    confirmationEmails = ConfirmationEmailsField(
        required=False,
        max_length=CONFIRMATION_EMAILS_MAX,
        source="confirmation_emails",
        help_text="Who is asked; empty: the tenant's owners and approvers.",
    )
    confirmTopups = StrictBooleanField(
        required=False, source="confirm_topups", help_text="Ask about large top-ups, too."
    )


class AutoFundingConfigOut(serializers.Serializer[Any]):
    """The settings, and what auto-funding is doing."""

    enabled = serializers.BooleanField()
    lowBalanceThreshold = serializers.IntegerField(allow_null=True)
    fundingAmount = serializers.IntegerField(allow_null=True)
    fundingMethod = serializers.ChoiceField(choices=FundingMethod.values, allow_null=True)
    confirmationThreshold = serializers.IntegerField(allow_null=True)
    fundingSourceId = serializers.CharField(allow_null=True)
    monthlyLimit = serializers.IntegerField(allow_null=True)
    confirmationEmails = serializers.ListField(child=serializers.EmailField())
    confirmTopups = serializers.BooleanField()
    status = serializers.ChoiceField(choices=["active", "paused", "disabled"])
    pausedReason = serializers.CharField(allow_null=True)
    pausedUntil = serializers.DateTimeField(
        allow_null=True, help_text="null while paused: until `enabled: true` is sent."
    )
    lastDeclineReason = serializers.CharField(
        allow_null=True,
        help_text=(
            "Why no money would be added now, as a reason of the decision log or `funding_stopped`;"
            " null: nothing keeps it from that."
        ),
    )
    lastTriggeredAt = serializers.DateTimeField(allow_null=True)
    inFlightAmount = serializers.IntegerField(help_text="Cents on their way, top-ups included.")
    fundedThisMonth = serializers.IntegerField(help_text="Cents added automatically.")
    updatedAt = serializers.DateTimeField(allow_null=True)


class AutoFundingDecisionOut(serializers.Serializer[Any]):
    """Why auto-funding did, or did not, add money; the amounts are those of that moment."""

    id = serializers.CharField()
    outcome = serializers.ChoiceField(choices=DecisionOutcome.values)
    reason = serializers.CharField()
    availableBalance = serializers.IntegerField()
    inFlightAmount = serializers.IntegerField()
    lowBalanceThreshold = serializers.IntegerField()
    fundingAmount = serializers.IntegerField()
    fundingTransactionId = serializers.CharField(allow_null=True)
    createdAt = serializers.DateTimeField()
