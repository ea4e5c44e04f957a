"""Filters of the list of payments."""

from __future__ import annotations

from datetime import datetime

import django_filters
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter

from api.filters import CentsFilter, InstantFilter, StrictBooleanFilter, StrictFilterSet
from api.schema import FILTER_CENTS, FILTER_TEXT, PAGE_PARAMETERS
from payments.models import AUTO, Payment, PaymentMethod
from payments.states import PaymentStatus

FILTER_PARAMETERS = [
    OpenApiParameter("status", enum=PaymentStatus.values, many=True),
    OpenApiParameter(
        "method", enum=[*PaymentMethod.values, AUTO], description="What was asked for."
    ),
    OpenApiParameter("recipientId", FILTER_TEXT),
    OpenApiParameter("returned", bool),
    OpenApiParameter("createdAfter", datetime, description="Exclusive."),
    OpenApiParameter("createdBefore", datetime, description="Exclusive."),
    OpenApiParameter("minAmount", FILTER_CENTS, description="Cents."),
    OpenApiParameter("maxAmount", FILTER_CENTS, description="Cents."),
]
PAYMENT_PARAMETERS = [*FILTER_PARAMETERS, *PAGE_PARAMETERS]


class PaymentFilter(StrictFilterSet):
    status = django_filters.MultipleChoiceFilter(choices=PaymentStatus.choices)
    method = django_filters.ChoiceFilter(
        choices=[*PaymentMethod.choices, (AUTO, AUTO)], method="asked_for"
    )
    recipientId = django_filters.CharFilter(field_name="recipient_id", strip=False)
    returned = StrictBooleanFilter()
    createdAfter = InstantFilter(field_name="created_at", lookup_expr="gt")
    createdBefore = InstantFilter(field_name="created_at", lookup_expr="lt")
    minAmount = CentsFilter(field_name="amount", lookup_expr="gte")
    maxAmount = CentsFilter(field_name="amount", lookup_expr="lte")

    def asked_for(self, rows: QuerySet[Payment], _name: str, method: str) -> QuerySet[Payment]:
        """Those for which the method was left to us are no payments by the one in use."""
        if method == AUTO:
            return rows.filter(is_automatic=True)
        return rows.filter(method=method, is_automatic=False)
