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


class AllowanceOut(serializers.Serializer[Any]):
    limit = serializers.IntegerField(allow_null=True)
    used = serializers.IntegerField()
    remaining = serializers.IntegerField(allow_null=True)
    resetsAt = serializers.DateTimeField()


class PaymentLimitsOut(serializers.Serializer[Any]):
    """What limits money out, besides the balance itself."""

    perTransaction = PerPaymentOut()
    approvalThreshold = serializers.IntegerField(
        allow_null=True, help_text="Cents; above it a second person approves."
    )


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
        found = limits.of(tenant_id=request.auth.tenant_id, mode=request.auth.mode, now=utc_now())
        return responses.data(found)
