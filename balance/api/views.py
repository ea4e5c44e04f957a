"""`/balance/summary` and `/balance/transactions`: what a tenant has, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema

from api import responses
from api.authentication import TenantRequest
from api.downloads import csv_download
from api.pagination import paginate
from api.schema import PAGE_PARAMETERS, envelope, page
from api.views import ApiViewSet
from balance import selectors
from balance.api import presenters
from balance.api.filters import FILTER_PARAMETERS, selection
from balance.api.serializers import BalanceSummaryOut, BalanceTransactionOut


class BalanceViewSet(ApiViewSet):
    scopes: ClassVar = {"summary": "balance:read"}

    @extend_schema(responses=envelope(BalanceSummaryOut))
    def summary(self, request: TenantRequest) -> HttpResponse:
        """What is available, on its way, and set aside."""
        return responses.data(presenters.summary(selectors.summary(request.auth.tenant_id)))


class BalanceTransactionViewSet(ApiViewSet):
    scopes: ClassVar = {
        "list": "balance:read",
        "retrieve": "balance:read",
        "download": "balance:read",
    }

    @extend_schema(
        parameters=[*FILTER_PARAMETERS, *PAGE_PARAMETERS], responses=page(BalanceTransactionOut)
    )
    def list(self, request: TenantRequest) -> HttpResponse:
        """The statement, newest line first."""
        chosen = selection(request, paged=True)

        def fetch(position: Sequence[int] | None, count: int) -> Sequence[dict[str, Any]]:
            before = position[0] if position else None
            return selectors.page(request.auth.tenant_id, before=before, count=count, **chosen)

        return paginate(
            request,
            fetch,
            present=presenters.transaction,
            keys=("sequence",),
        )

    @extend_schema(responses=envelope(BalanceTransactionOut))
    def retrieve(self, request: TenantRequest, transaction_id: str) -> HttpResponse:
        """One line of the statement."""
        row = selectors.transaction(tenant_id=request.auth.tenant_id, transaction_id=transaction_id)
        return responses.data(presenters.transaction(row))

    @extend_schema(parameters=FILTER_PARAMETERS, responses={(200, "text/csv"): OpenApiTypes.STR})
    def download(self, request: TenantRequest) -> StreamingHttpResponse:
        """The whole statement as CSV, newest line first, with the filters of the list."""
        rows = selectors.transactions(request.auth.tenant_id, **selection(request, paged=False))
        return csv_download(
            "balance-transactions.csv",
            presenters.CSV_HEADER,
            map(presenters.csv_row, selectors.newest_first(rows)),
        )
