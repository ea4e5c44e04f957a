"""`/balance/topup` and `/funding/transactions`."""

from __future__ import annotations

from typing import ClassVar

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema

from api import responses
from api.authentication import TenantRequest
from api.downloads import csv_download
from api.idempotency import idempotent
from api.pagination import paginate
from api.schema import PAGE_PARAMETERS, envelope, page, refuses
from api.serializers import validated
from api.views import ApiViewSet
from balance.errors import BalanceOutOfRange
from common.clock import utc_now
from common.errors import NotFound
from funding import errors, selectors
from funding.api import presenters
from funding.api.filters import FILTER_PARAMETERS, FundingTransactionFilter
from funding.api.serializers import FundingTransactionOut, TopUpIn
from funding.services import topups
from transfers.errors import AmountAboveLimit, NotCancelable
from transfers.listing import newest_first


class TopUpViewSet(ApiViewSet):
    scopes: ClassVar = {"create": "funding:write"}

    @extend_schema(
        request=TopUpIn,
        responses={201: envelope(FundingTransactionOut)},
        extensions=refuses(
            NotFound,
            errors.FundingSourceNotVerified,
            errors.FundingSourceUnusable,
            errors.FundingSourceNotAuthorized,
            errors.AuthorizationRequired,
            errors.InvalidAuthorization,
            errors.FundingMethodNotSupported,
            errors.DailyLimitExceeded,
            errors.MonthlyLimitExceeded,
            AmountAboveLimit,
            BalanceOutOfRange,
        ),
    )
    @idempotent
    def create(self, request: TenantRequest) -> HttpResponse:
        """Add money to the balance from a linked bank account; it arrives later."""
        funding = topups.request(
            tenant_id=request.auth.tenant_id,
            mode=request.auth.mode,
            topup=validated(TopUpIn, request.data),
            actor=request.auth.actor,
            now=utc_now(),
        )
        return responses.data(
            presenters.funding_transaction(funding),
            status=201,
            location=f"/api/v1/funding/transactions/{funding.pk}",
        )


class FundingTransactionViewSet(ApiViewSet):
    scopes: ClassVar = {
        "list": "funding:read",
        "download": "funding:read",
        "retrieve": "funding:read",
        "cancel": "funding:write",
    }

    @extend_schema(
        parameters=[*FILTER_PARAMETERS, *PAGE_PARAMETERS], responses=page(FundingTransactionOut)
    )
    def list(self, request: TenantRequest) -> HttpResponse:
        """Funding transactions, newest first."""
        rows = selectors.transactions(tenant_id=request.auth.tenant_id)
        return paginate(
            request,
            FundingTransactionFilter.apply(request, rows),
            present=presenters.funding_transaction,
        )

    @extend_schema(parameters=FILTER_PARAMETERS, responses={(200, "text/csv"): OpenApiTypes.STR})
    def download(self, request: TenantRequest) -> StreamingHttpResponse:
        """All funding transactions as CSV, newest first, by the same filters."""
        rows = selectors.transactions(tenant_id=request.auth.tenant_id)
        chosen = FundingTransactionFilter.apply(request, rows, paged=False)
        return csv_download(
            "funding-transactions.csv",
            presenters.CSV_HEADER,
            map(presenters.csv_row, newest_first(chosen)),
        )

    @extend_schema(responses=envelope(FundingTransactionOut))
    def retrieve(self, request: TenantRequest, funding_id: str) -> HttpResponse:
        """One funding transaction."""
        funding = selectors.transaction(tenant_id=request.auth.tenant_id, funding_id=funding_id)
        return responses.data(presenters.funding_transaction(funding))

    @extend_schema(
        request=None,
        responses=envelope(FundingTransactionOut),
        extensions=refuses(NotCancelable),
    )
    @idempotent
    def cancel(self, request: TenantRequest, funding_id: str) -> HttpResponse:
        """Give up a funding transaction that was not yet handed to the network."""
        tenant_id = request.auth.tenant_id
        topups.cancel(
            tenant_id=tenant_id, funding_id=funding_id, actor=request.auth.actor, now=utc_now()
        )
        # Its approval may have been withdrawn: read both as they are now.
        funding = selectors.transaction(tenant_id=tenant_id, funding_id=funding_id)
        return responses.data(presenters.funding_transaction(funding))
