"""Filters of the delivery and event lists."""

from __future__ import annotations

from datetime import datetime

import django_filters
from drf_spectacular.utils import OpenApiParameter

from api.filters import InstantFilter, StrictFilterSet
from api.schema import FILTER_TEXT, PAGE_PARAMETERS
from webhooks import events
from webhooks.states import DeliveryStatus

_TYPES = [(name, name) for name in events.ALL]
_WINDOW = [
    OpenApiParameter("createdAfter", datetime, description="Exclusive."),
    OpenApiParameter("createdBefore", datetime, description="Exclusive."),
]
_TYPE = OpenApiParameter("type", str, enum=events.ALL, many=True)

DELIVERY_PARAMETERS = [
    OpenApiParameter("status", str, enum=DeliveryStatus.values, many=True),
    _TYPE,
    *_WINDOW,
    *PAGE_PARAMETERS,
]
EVENT_PARAMETERS = [
    _TYPE,
    OpenApiParameter("paymentId", FILTER_TEXT, description="The funding transaction or payment."),
    *_WINDOW,
    *PAGE_PARAMETERS,
]


class DeliveryFilter(StrictFilterSet):
    status = django_filters.MultipleChoiceFilter(choices=DeliveryStatus.choices)
    type = django_filters.MultipleChoiceFilter(field_name="event__type", choices=_TYPES)
    createdAfter = InstantFilter(field_name="created_at", lookup_expr="gt")
    createdBefore = InstantFilter(field_name="created_at", lookup_expr="lt")


class EventFilter(StrictFilterSet):
    type = django_filters.MultipleChoiceFilter(choices=_TYPES)
    paymentId = django_filters.CharFilter(field_name="payment_id", strip=False)
    createdAfter = InstantFilter(field_name="created_at", lookup_expr="gt")
    createdBefore = InstantFilter(field_name="created_at", lookup_expr="lt")
