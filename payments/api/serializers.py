"""Bodies in and out of the payment endpoints."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from api.bank_accounts import BankAccountIn, BankAccountOut
from api.fields import CentsField, MetadataField, MethodField, StrictBooleanField, TextField
from api.serializers import CreatedByOut, StrictSerializer
from approvals.api import ApprovalOut, ConfirmationOut
from payments.attempts import Outcome
from payments.methods import METHODS
from payments.models import AUTO, DESCRIPTION_LENGTH_MAX, NICKNAME_LENGTH_MAX, PaymentMethod
from payments.services.orders import Order
from payments.states import PaymentStatus
from transfers.api import SPEEDS, CarrierOut, SpeedField

ASKED = [*PaymentMethod.values, AUTO]
_ABSENT: dict[str, Any] = {"not": {}}
_RECIPIENTS = {"recipient", "recipientId"}


class RecipientIn(BankAccountIn):
    """Whom to pay."""


class SavedRecipientIn(RecipientIn):
    """Whom to pay, more than once."""

    nickname = TextField(
        required=False,
        max_length=NICKNAME_LENGTH_MAX,
        help_text="What you call it; the bank sees the name on the account.",
    )


class PaymentIn(StrictSerializer):
    """`recipient` or `recipientId`, never both."""

    schema: ClassVar = {
        "oneOf": [
            {"required": ["recipient"], "properties": {"recipientId": _ABSENT}},
            {"required": ["recipientId"], "properties": {"recipient": _ABSENT}},
        ]
    }

    amount = CentsField(help_text="Cents.")
    recipient = RecipientIn(required=False)
    recipientId = TextField(required=False, max_length=64, help_text="A saved recipient.")
    method = MethodField(
        ASKED,
        offered=lambda: METHODS,
        default=PaymentMethod.ACH_CREDIT,
        help_text="`auto`: an instant payment, or ACH where the recipient's bank cannot take that.",
    )
    speed = SpeedField("expectedArrivalDate")
    description = TextField(max_length=DESCRIPTION_LENGTH_MAX, default="", allow_blank=True)
    metadata = MetadataField(default=dict)
    waitForFunds = StrictBooleanField(
        source="wait_for_funds",
        default=False,
        help_text="If the balance is too low, wait for money instead of failing.",
    )

    def to_internal_value(self, data: Any) -> Order:
        values = super().to_internal_value(data)
        given = [values.pop(name) for name in _RECIPIENTS if name in values]
        if len(given) != 1:
            message = "Send either recipient or recipientId."
            raise serializers.ValidationError({"recipient": message}, code="invalid")
        return Order(**{**values, "recipient": given[0]})


class RecipientOut(BankAccountOut):
    """A saved recipient."""

    id = serializers.CharField()
    nickname = serializers.CharField(allow_null=True, help_text="What the tenant calls it.")
    createdAt = serializers.DateTimeField()
    removedAt = serializers.DateTimeField(allow_null=True)


class RemovedRecipientOut(serializers.Serializer[Any]):
    """What is left of a removed recipient."""

    id = serializers.CharField()
    removedAt = serializers.DateTimeField()


class PaidAccountOut(BankAccountOut):
    """The account a payment goes to."""


class PaymentTimestampsOut(serializers.Serializer[Any]):
    """When the payment got into each status; null where it never was."""

    waitingForFundsAt = serializers.DateTimeField(allow_null=True)
    createdAt = serializers.DateTimeField(allow_null=True)
    processingAt = serializers.DateTimeField(allow_null=True)
    completedAt = serializers.DateTimeField(allow_null=True)
    failedAt = serializers.DateTimeField(allow_null=True)
    returnedAt = serializers.DateTimeField(allow_null=True)
    canceledAt = serializers.DateTimeField(allow_null=True)


class PaymentConfirmationOut(ConfirmationOut):
    """The approval of one payment, with its magic links."""

    paymentId = serializers.CharField()


class PaymentAttemptOut(serializers.Serializer[Any]):
    """One way by which a payment was tried."""

    number = serializers.IntegerField()
    method = serializers.ChoiceField(choices=PaymentMethod.values)
    network = CarrierOut()
    outcome = serializers.ChoiceField(
        choices=[each.value for each in Outcome], help_text="`refused`: no money moved by it."
    )
    code = serializers.CharField(
        allow_null=True, help_text="What the network said, if it was refused or returned."
    )
    startedAt = serializers.DateTimeField(
        allow_null=True,
        help_text="When the network took it over; null if it refused it at once.",
    )
    endedAt = serializers.DateTimeField(allow_null=True)


class PaymentOut(serializers.Serializer[Any]):
    """A payment out of the balance."""

    id = serializers.CharField()
    amount = serializers.IntegerField(help_text="Cents.")
    currency = serializers.CharField()
    status = serializers.ChoiceField(choices=PaymentStatus.choices)
    method = serializers.ChoiceField(choices=ASKED, help_text="What was asked for.")
    methodUsed = serializers.ChoiceField(
        choices=PaymentMethod.values, help_text="The method in use, or the last one."
    )
    network = CarrierOut()
    attempts = PaymentAttemptOut(
        many=True,
        help_text="The ways by which it was tried, the first one first; empty until it was handed"
        " to a network.",
    )
    speed = serializers.ChoiceField(choices=SPEEDS, help_text="What was asked for.")
    recipient = PaidAccountOut()
    recipientId = serializers.CharField(allow_null=True, help_text="If it was a saved one.")
    createdBy = CreatedByOut()
    description = serializers.CharField(allow_null=True)
    metadata = serializers.DictField(child=serializers.CharField())
    waitForFunds = serializers.BooleanField()
    waitsUntil = serializers.DateTimeField(
        allow_null=True, help_text="When it gives up; only while it waits."
    )
    requiresConfirmation = serializers.BooleanField(
        help_text="Whether a second person has to approve it before it is sent. `approval` says"
        " what was decided."
    )
    confirmationExpiresAt = serializers.DateTimeField(
        allow_null=True, help_text="Until when people may decide; only while they are asked."
    )
    confirmedAt = serializers.DateTimeField(allow_null=True, help_text="When one approved.")
    approval = ApprovalOut(allow_null=True, help_text="null: nobody was asked.")
    onHold = serializers.BooleanField(help_text="Staff look at it before it is sent.")
    heldBackAt = serializers.DateTimeField(
        allow_null=True,
        help_text="Since when it is not sent because `availableBalance` is negative; it goes on by"
        " itself once that is 0 or more.",
    )
    expectedArrivalDate = serializers.DateField(
        allow_null=True,
        help_text="An Eastern banking day. null while it waits for money or an approval, is on hold"
        " or held back, and once it ended without having completed.",
    )
    statusTimestamps = PaymentTimestampsOut()
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
