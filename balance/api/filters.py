"""Filters of the balance transaction list."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import django_filters
from drf_spectacular.utils import OpenApiParameter

from api.authentication import TenantRequest
from api.filters import InstantFilter, StrictFilterSet
from api.schema import FILTER_TEXT
from balance.kinds import PostingType
from balance.models import BalanceTransaction

FILTER_PARAMETERS = [
    OpenApiParameter(
        "type", str, enum=PostingType.values, many=True, description="May be given several times."
    ),
    OpenApiParameter(
        "sourceId", FILTER_TEXT, description="What caused it: the id of `sourceType`."
    ),
    OpenApiParameter("createdAfter", datetime, description="Exclusive."),
    OpenApiParameter("createdBefore", datetime, description="Exclusive."),
]


class BalanceTransactionFilter(StrictFilterSet):
    type = django_filters.MultipleChoiceFilter(choices=PostingType.choices)
    sourceId = django_filters.CharFilter(strip=False)
    createdAfter = InstantFilter()
    createdBefore = InstantFilter()

    class Meta:
        model = BalanceTransaction
        fields = ()


def selection(request: TenantRequest, *, paged: bool) -> dict[str, Any]:
    """The arguments of `selectors.transactions` in the query string. Raises ValidationError."""
    values = BalanceTransactionFilter.read(request, paged=paged)
    return {
        "types": values.get("type", ()),
        "source_id": values.get("sourceId") or None,
        "created_after": values.get("createdAfter"),
        "created_before": values.get("createdBefore"),
    }
