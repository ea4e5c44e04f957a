"""The base of every list filter: unknown parameters and odd values are refused, not ignored."""

from __future__ import annotations

from typing import Any

import django_filters
from django import forms
from django.db.models import Model, QuerySet
from rest_framework import serializers

from api import pagination
from api.authentication import TenantRequest
from api.errors import UnknownParameter


class CentsFormField(forms.RegexField):
    """ASCII digits only: `int()` would also take signs, spaces and other scripts' digits."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.pop("decimal_places", None)
        super().__init__(r"^[0-9]{1,15}\Z", **kwargs)

    def clean(self, value: Any) -> int | None:
        text = super().clean(value)
        return int(text) if text else None


class StrictFilterSet(django_filters.FilterSet):  # type: ignore[misc]  # django-filter is untyped
    """Declares query parameters of a list. Use `apply`."""

    @classmethod
    def apply(cls, request: TenantRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """`queryset` narrowed by the query string. Raises DRF's ValidationError."""
        parameters = request.query_params
        if unknown := set(parameters) - set(cls.base_filters) - set(pagination.PARAMETERS):
            raise serializers.ValidationError(
                {
                    name: [serializers.ErrorDetail("Not a parameter here.", UnknownParameter.code)]
                    for name in sorted(unknown)
                }
            )
        _refuse_blank(cls, request)
        filters = cls(parameters, queryset=queryset)
        if not filters.is_valid():
            raise serializers.ValidationError(
                {
                    name: [
                        serializers.ErrorDetail(item["message"], item["code"] or "invalid")
                        for item in problems
                    ]
                    for name, problems in filters.errors.get_json_data().items()
                }
            )
        narrowed: QuerySet[Model] = filters.qs
        return narrowed


class StrictBooleanFilter(django_filters.ChoiceFilter):  # type: ignore[misc]
    """`true` or `false`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(choices=(("true", "true"), ("false", "false")), **kwargs)

    def filter(self, queryset: QuerySet[Any], value: str) -> QuerySet[Any]:
        return queryset.filter(**{self.field_name: value == "true"}) if value else queryset


class CentsFilter(django_filters.Filter):  # type: ignore[misc]
    """A whole number of cents."""

    field_class = CentsFormField


def _refuse_blank(filter_class: type[StrictFilterSet], request: TenantRequest) -> None:
    """`?type=` is a mistake in the caller's code, not a wish for everything."""
    for name, values in request.query_params.lists():
        is_repeatable = isinstance(
            filter_class.base_filters.get(name), django_filters.MultipleChoiceFilter
        )
        if "" in values or (len(values) > 1 and not is_repeatable):
            raise serializers.ValidationError({name: "Give one value, or leave it out."})
