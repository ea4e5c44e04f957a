"""Filters of the list of payments."""

from __future__ import annotations

from datetime import datetime

import django_filters
from drf_spectacular.utils import OpenApiParameter

from api.filters import CentsFilter, InstantFilter, StrictBooleanFilter, StrictFilterSet
from api.schema import FILTER_CENTS, FILTER_TEXT, PAGE_PARAMETERS
from payments.models import PaymentMethod
from payments.states import PaymentStatus

FILTER_PARAMETERS = [
    OpenApiParameter("status", enum=PaymentStatus.values, many=True),
    OpenApiParameter("method", enum=PaymentMethod.values),
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
    method = django_filters.ChoiceFilter(choices=PaymentMethod.choices)
    recipientId = django_filters.CharFilter(field_name="recipient_id", strip=False)
    returned = StrictBooleanFilter()
    createdAfter = InstantFilter(field_name="created_at", lookup_expr="gt")
    createdBefore = InstantFilter(field_name="created_at", lookup_expr="lt")
    minAmount = CentsFilter(field_name="amount", lookup_expr="gte")
    maxAmount = CentsFilter(field_name="amount", lookup_expr="lte")
