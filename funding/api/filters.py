"""Filters of the funding list."""

from __future__ import annotations

from datetime import datetime

import django_filters
from drf_spectacular.utils import OpenApiParameter

from api.filters import CentsFilter, InstantFilter, StrictBooleanFilter, StrictFilterSet
from api.schema import FILTER_CENTS, FILTER_TEXT
from funding.methods import METHODS
from funding.models import FundingMethod, Trigger
from funding.states import FundingStatus

FILTER_PARAMETERS = [
    OpenApiParameter("status", enum=FundingStatus.values, many=True),
    OpenApiParameter("fundingMethod", enum=FundingMethod.values),
    OpenApiParameter("fundingSourceId", FILTER_TEXT),
    OpenApiParameter("trigger", enum=Trigger.values),
    OpenApiParameter("returned", bool),
    OpenApiParameter("createdAfter", datetime, description="Exclusive."),
    OpenApiParameter("createdBefore", datetime, description="Exclusive."),
    OpenApiParameter("minAmount", FILTER_CENTS, description="Cents."),
    OpenApiParameter("maxAmount", FILTER_CENTS, description="Cents."),
]


def offered() -> list[tuple[str, str]]:
    """The methods of this deployment, also those that were added to the product's own."""
    return [(name, name) for name in METHODS]


class FundingTransactionFilter(StrictFilterSet):
    status = django_filters.MultipleChoiceFilter(choices=FundingStatus.choices)
    fundingMethod = django_filters.ChoiceFilter(field_name="method", choices=offered)
    fundingSourceId = django_filters.CharFilter(field_name="source_id", strip=False)
    trigger = django_filters.ChoiceFilter(choices=Trigger.choices)
    returned = StrictBooleanFilter()
    createdAfter = InstantFilter(field_name="created_at", lookup_expr="gt")
    createdBefore = InstantFilter(field_name="created_at", lookup_expr="lt")
    minAmount = CentsFilter(field_name="amount", lookup_expr="gte")
    maxAmount = CentsFilter(field_name="amount", lookup_expr="lte")
