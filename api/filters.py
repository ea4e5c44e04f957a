"""The base of every list filter. It refuses unknown parameters and odd values instead of ignoring
them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import django_filters
from django import forms
from django.db.models import Model, QuerySet
from rest_framework import serializers

from api import pagination
from api.authentication import TenantRequest
from common import clock


class CentsFormField(forms.RegexField):
    """ASCII digits only: `int()` would also take signs, spaces and other scripts' digits."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.pop("decimal_places", None)
        super().__init__(r"^[0-9]{1,15}\Z", **kwargs)

    def clean(self, value: Any) -> int | None:
        text = super().clean(value)
        return int(text) if text else None


class StrictFilterSet(django_filters.FilterSet):  # type: ignore[misc]  # django-filter is untyped
    """The query parameters of a list. Use `apply` for a queryset, or `read` and a selector."""

    @classmethod
    def apply(
        cls, request: TenantRequest, queryset: QuerySet[Any], *, paged: bool = True
    ) -> QuerySet[Any]:
        """`queryset` narrowed by the query string. Raises DRF's ValidationError."""
        narrowed: QuerySet[Model] = cls._checked(request, queryset, paged=paged).qs
        return narrowed

    @classmethod
    def read(cls, request: TenantRequest, *, paged: bool) -> dict[str, Any]:
        """The checked values by name, empty for parameters that were left out; {} without any.
        Raises as `apply` does.

        `paged`: `limit` and `cursor` are allowed too. Needs a `Meta.model`.
        """
        if request.query_params.keys() <= set(pagination.PARAMETERS if paged else ()):
            _refuse_blank(cls, request)
            return {}
        values: dict[str, Any] = cls._checked(request, None, paged=paged).form.cleaned_data
        return values

    @classmethod
    def _checked(
        cls, request: TenantRequest, queryset: QuerySet[Any] | None, *, paged: bool = True
    ) -> StrictFilterSet:
        request.known_parameters = frozenset(cls.base_filters)
        pagination.refuse_unknown(request, paged=paged)
        _refuse_blank(cls, request)
        filters = cls(request.query_params, queryset=queryset)
        if not filters.is_valid():
            raise serializers.ValidationError(
                {
                    name: [
                        serializers.ErrorDetail(
                            _message(filters.form.fields[name], item), item["code"] or "invalid"
                        )
                        for item in problems
                    ]
                    for name, problems in filters.errors.get_json_data().items()
                }
            )
        return filters


class _InstantField(forms.Field):
    """A moment: ISO 8601 with a time and an offset, without which nobody knows the instant."""

    def to_python(self, value: Any) -> datetime | None:
        if value in self.empty_values:
            return None
        try:
            return clock.parse(value)
        except ValueError as error:
            raise forms.ValidationError(
                "Send a time with its offset, such as 2026-11-20T15:00:00Z.", code="invalid_format"
            ) from error


class InstantFilter(django_filters.Filter):  # type: ignore[misc]  # django-filter is untyped
    """A moment in time."""

    field_class = _InstantField


class StrictBooleanFilter(django_filters.ChoiceFilter):  # type: ignore[misc]
    """`true` or `false`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(choices=(("true", "true"), ("false", "false")), **kwargs)

    def filter(self, queryset: QuerySet[Any], value: str) -> QuerySet[Any]:
        return queryset.filter(**{self.field_name: value == "true"}) if value else queryset


class RemovableFilter(StrictFilterSet):
    """Rows with `removed_at`: removed ones only on request."""

    includeRemoved = django_filters.ChoiceFilter(choices=(("true", "true"), ("false", "false")))

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.form.cleaned_data["includeRemoved"] == "true":
            return queryset
        return queryset.filter(removed_at=None)


class CentsFilter(django_filters.Filter):  # type: ignore[misc]
    """A whole number of cents."""

    field_class = CentsFormField


def _message(field: forms.Field, problem: dict[str, str]) -> str:
    """Name the choices, as fields of a body do, without repeating what was sent."""
    if problem["code"] != "invalid_choice" or not isinstance(field, forms.ChoiceField):
        return problem["message"]
    known = ", ".join(str(value) for value, _label in field.choices if value)  # type: ignore[union-attr,misc]
    return f"Choose one of: {known}."


def _refuse_blank(filter_class: type[StrictFilterSet], request: TenantRequest) -> None:
    """Refuse `?type=`: it is a mistake in the caller's code, not a request for everything."""
    for name, values in request.query_params.lists():
        is_repeatable = isinstance(
            filter_class.base_filters.get(name), django_filters.MultipleChoiceFilter
        )
        if "" in values or (len(values) > 1 and not is_repeatable):
            raise serializers.ValidationError({name: "Give one value, or leave it out."})
