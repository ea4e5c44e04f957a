"""`/balance/limits`: how much may be brought in and paid out."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers

from api import responses
from api.authentication import TenantRequest
from api.schema import envelope
from api.views import ApiViewSet
from balance import limits
from common.clock import utc_now


class PerTransactionOut(serializers.Serializer[Any]):
    """Cents by method. A method that no network carries for you now is left out."""

    ach_debit = serializers.IntegerField(required=False)
    rtp = serializers.IntegerField(required=False)


class PerPaymentOut(serializers.Serializer[Any]):
    """Cents by method. A method that no network carries for you now is left out."""

    ach_credit = serializers.IntegerField(required=False)
    rtp = serializers.IntegerField(required=False)
    auto = serializers.IntegerField(
        required=False, help_text="Of the method that takes the most; only where there is a choice."
    )


class AllowanceOut(serializers.Serializer[Any]):
    limit = serializers.IntegerField(allow_null=True)
    used = serializers.IntegerField()
    remaining = serializers.IntegerField(allow_null=True)
    resetsAt = serializers.DateTimeField()


class RollingAllowanceOut(serializers.Serializer[Any]):
    """Null where there is no limit; `used` is null where it counts for each one."""

    limit = serializers.IntegerField(allow_null=True)
    used = serializers.IntegerField(allow_null=True)
    remaining = serializers.IntegerField(allow_null=True)


class RollingLimitOut(serializers.Serializer[Any]):
    """A limit on what is paid out in any 24 hours (`day`) or any 30 days (`month`): in all, to one
    recipient, by this API key, or by the person behind it."""

    scope = serializers.ChoiceField(choices=("tenant", "recipient", "key", "person"))
    window = serializers.ChoiceField(choices=("day", "month"))
    amount = RollingAllowanceOut(help_text="Cents.")
    payments = RollingAllowanceOut(help_text="How many.")
    freesAt = serializers.DateTimeField(
        allow_null=True, help_text="When the first of what is used counts no longer."
    )


class PaymentLimitsOut(serializers.Serializer[Any]):
    """What limits money out, besides the balance itself."""

    perTransaction = PerPaymentOut()
    approvalThreshold = serializers.IntegerField(
        allow_null=True,
        help_text="Cents; above it a second person approves what this API key pays.",
    )
    rolling = RollingLimitOut(many=True)


class LimitsOut(serializers.Serializer[Any]):
    currency = serializers.CharField()
    perTransaction = PerTransactionOut()
    daily = AllowanceOut()
    monthly = AllowanceOut()
    payments = PaymentLimitsOut()


class LimitsViewSet(ApiViewSet):
    scopes: ClassVar = {"retrieve": "balance:read"}

    @extend_schema(responses=envelope(LimitsOut))
    def retrieve(self, request: TenantRequest) -> HttpResponse:
        """How much may be brought in per transaction, day and month, what is used, and how much
        may be paid out at once."""
        found = limits.of(
            tenant_id=request.auth.tenant_id,
            mode=request.auth.mode,
            actor=request.auth.actor,
            now=utc_now(),
        )
        return responses.data(found)
