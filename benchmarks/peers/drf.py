"""DRF views that do nothing but look the hashed key up and run their one query or insert, and one
that does not even that.

Written with care for speed: no middleware, no throttle, no idempotency, no outbox, no checks, no
model instances on reads.
"""

from __future__ import annotations

import hashlib
from typing import Any

from django.urls import path
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from balance.models import Balance, BalanceTransaction
from common import ids
from common.clock import utc_now
from funding.models import FundingTransaction
from tenants import key_text
from tenants.models import ApiKey

_LINE = (
    *("id", "type", "amount", "currency", "available_delta", "locked_delta"),
    *("available_after", "locked_after", "source_type", "source_id", "description", "created_at"),
)
_CONSTANT = {"data": {"available": 1, "pending": 0, "locked": 0, "currency": "USD"}}


class KeyAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[None, str]:
        text = request.META["HTTP_AUTHORIZATION"].removeprefix("Bearer ")
        digest = hashlib.sha256(text.encode()).hexdigest()
        row = (
            ApiKey.objects.filter(prefix=key_text.prefix_of(text), digest=digest, revoked_at=None)
            .values("tenant_id")
            .first()
        )
        if row is None:
            raise AuthenticationFailed
        return None, row["tenant_id"]


class View(APIView):
    authentication_classes = (KeyAuthentication,)


class Summary(View):
    def get(self, request: Request) -> Response:
        row = Balance.objects.values("available", "pending", "locked", "currency").get(
            tenant_id=request.auth
        )
        return Response({"data": row})


class Transactions(View):
    def get(self, request: Request) -> Response:
        rows = BalanceTransaction.objects.filter(tenant_id=request.auth).order_by("-sequence")
        return Response({"data": list(rows.values(*_LINE)[:50])})


class TopUp(View):
    def post(self, request: Request) -> Response:
        now = utc_now()
        body: Any = request.data
        funding = FundingTransaction.objects.create(
            id=ids.new("ftx"),
            tenant_id=str(request.auth),
            source_id=body["fundingSourceId"],
            amount=int(body["amount"]),
            status="reserved",
            method=body["fundingMethod"],
            trigger="topup",
            created_by_type="api_key",
            created_by_id="",
            expected_availability_date=now.date(),
            network="sandbox",
            next_attempt_at=None,
            history_length=1,
            event_sequence=1,
            reserved_at=now,
            created_at=now,
            updated_at=now,
        )
        return Response({"data": {"id": funding.pk, "status": funding.status}}, status=201)


class Constant(APIView):
    """As short an answer as the others' shortest, without a key or a query."""

    authentication_classes = ()

    def get(self, request: Request) -> Response:
        return Response(_CONSTANT)

    def post(self, request: Request) -> Response:
        return Response(_CONSTANT, status=201)


urlpatterns = [
    path("api/v1/constant", Constant.as_view()),
    path("api/v1/balance/summary", Summary.as_view()),
    path("api/v1/balance/transactions", Transactions.as_view()),
    path("api/v1/balance/topup", TopUp.as_view()),
]
