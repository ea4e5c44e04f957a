"""Filters of the funding source list."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter

from api.filters import StrictFilterSet
from api.schema import PAGE_PARAMETERS
from funding.states import SourceStatus

_TRUE = "true"

LIST_PARAMETERS = [
    OpenApiParameter(
        "includeRemoved", bool, default=False, description="Show removed accounts, too."
    ),
    *PAGE_PARAMETERS,
]


class FundingSourceFilter(StrictFilterSet):
    includeRemoved = django_filters.ChoiceFilter(choices=((_TRUE, _TRUE), ("false", "false")))

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.form.cleaned_data["includeRemoved"] == _TRUE:
            return queryset
        return queryset.exclude(status=SourceStatus.REMOVED)
