"""`/balance/proofs`: that the tenant's balance is in the signed reports."""

from __future__ import annotations

from typing import ClassVar

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema

from api import responses
from api.authentication import TenantRequest
from api.pagination import paginate
from api.schema import PAGE_PARAMETERS, envelope, page
from api.views import ApiViewSet
from solvency import inclusion
from solvency.api import presenters
from solvency.api.serializers import ProofOut, ProvenBalanceOut

_DAY = OpenApiParameter(
    "day",
    OpenApiTypes.DATE,
    OpenApiParameter.PATH,
    examples=[OpenApiExample("default", "2026-11-23")],
)


class ProofViewSet(ApiViewSet):
    scopes: ClassVar = {"list": "balance:read", "retrieve": "balance:read"}

    @extend_schema(parameters=PAGE_PARAMETERS, responses=page(ProvenBalanceOut))
    def list(self, request: TenantRequest) -> HttpResponse:
        """Your balances in proofs of funds, newest day first. Only live tenants have any."""
        rows = inclusion.leaves(request.auth.tenant_id)
        return paginate(request, rows, present=presenters.proven_balance, keys=("report_id",))

    @extend_schema(parameters=[_DAY], responses=envelope(ProofOut))
    def retrieve(self, request: TenantRequest, day: str) -> HttpResponse:
        """The proof of a day (`2026-11-27`): your leaf, the way to the root, the signed report."""
        leaf = inclusion.leaf_of(request.auth.tenant_id, inclusion.day_of(day))
        return responses.data(inclusion.proof_of(leaf))
