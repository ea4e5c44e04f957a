"""Bodies in and out of the funding endpoints."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from api.fields import CentsField, MetadataField, MethodField, TextField
from api.serializers import CreatedByOut, StrictSerializer
from approvals.api import ApprovalOut
from funding.api.authorizations import AuthorizationIn
from funding.methods import METHODS
from funding.models import DESCRIPTION_LENGTH_MAX, FundingMethod, Trigger
from funding.services.lifecycle import TopUp
from funding.states import FundingStatus
from transfers.api import SPEEDS, CarrierOut, SpeedField


class TopUpIn(StrictSerializer):
    amount = CentsField(help_text="Cents.")
    fundingSourceId = TextField(source="source_id", max_length=64)
    fundingMethod = MethodField(
        FundingMethod.values,
        offered=lambda: METHODS,
        source="method",
        default=FundingMethod.ACH_DEBIT,
    )
    speed = SpeedField("expectedAvailabilityDate")
    description = TextField(max_length=DESCRIPTION_LENGTH_MAX, default="", allow_blank=True)
    metadata = MetadataField(default=dict)
    authorization = AuthorizationIn(source="agreement", required=False)

    def to_internal_value(self, data: Any) -> TopUp:
        return TopUp(**super().to_internal_value(data))


class StatusTimestampsOut(serializers.Serializer[Any]):
    reservedAt = serializers.DateTimeField(allow_null=True)
    awaitingConfirmationAt = serializers.DateTimeField(allow_null=True)
    pendingAt = serializers.DateTimeField(allow_null=True)
    inTransitAt = serializers.DateTimeField(allow_null=True)
    completedAt = serializers.DateTimeField(allow_null=True)
    failedAt = serializers.DateTimeField(allow_null=True)


class FundingTransactionOut(serializers.Serializer[Any]):
    id = serializers.CharField()
    amount = serializers.IntegerField(help_text="Cents.")
    currency = serializers.CharField()
    status = serializers.ChoiceField(choices=FundingStatus.choices)
    fundingMethod = serializers.ChoiceField(choices=FundingMethod.choices)
    network = CarrierOut()
    speed = serializers.ChoiceField(choices=SPEEDS, help_text="What was asked for.")
    fundingSourceId = serializers.CharField()
    trigger = serializers.ChoiceField(choices=Trigger.choices)
    retryOf = serializers.CharField(
        allow_null=True,
        help_text="The returned funding transaction that this one tries once more; null for"
        " most. Retries begin in the dashboard, by a person or by a rule.",
    )
    createdBy = CreatedByOut()
    description = serializers.CharField(allow_null=True)
    metadata = serializers.DictField(child=serializers.CharField())
    requiresConfirmation = serializers.BooleanField()
    confirmationExpiresAt = serializers.DateTimeField(allow_null=True)
    approval = ApprovalOut(allow_null=True, help_text="null: nobody was asked.")
    expectedAvailabilityDate = serializers.DateField(
        allow_null=True,
        help_text="An Eastern banking day. null while it waits for an approval or staff hold it,"
        " and once it failed without having completed.",
    )
    expiresAt = serializers.DateTimeField(
        allow_null=True,
        help_text="Until when the account holder can approve the request for payment at their bank."
        " null for ACH, and until the request was sent.",
    )
    statusTimestamps = StatusTimestampsOut()
    failureCode = serializers.CharField(allow_null=True)
    failureMessage = serializers.CharField(allow_null=True)
    returned = serializers.BooleanField()
    returnCode = serializers.CharField(allow_null=True)
    returnReason = serializers.CharField(allow_null=True)
    returnedAt = serializers.DateTimeField(allow_null=True)
    traceNumber = serializers.CharField(allow_null=True)
    balanceTransactionIds = serializers.ListField(child=serializers.CharField())
    createdAt = serializers.DateTimeField()
    updatedAt = serializers.DateTimeField()
