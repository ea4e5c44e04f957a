"""Tells drf-spectacular what it cannot read off our views by itself."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from drf_spectacular.extensions import (
    OpenApiAuthenticationExtension,
    OpenApiSerializerExtension,
    OpenApiSerializerFieldExtension,
)
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, inline_serializer
from rest_framework import serializers
from rest_framework.viewsets import ViewSet

from api.pagination import LIMIT_DEFAULT, LIMIT_MAX
from common.errors import DomainError
from common.money import AMOUNT_MAX

REFUSALS = "x-refusals"
FILTER_TEXT = {"type": "string", "minLength": 1, "pattern": r"^[^\u0000]+$"}
FILTER_CENTS = {"type": "integer", "minimum": 0, "maximum": AMOUNT_MAX - 1}
PAGE_PARAMETERS = [
    OpenApiParameter(
        "limit",
        {"type": "integer", "minimum": 1, "maximum": LIMIT_MAX},
        default=LIMIT_DEFAULT,
        description="Rows on a page.",
    ),
    OpenApiParameter(
        "cursor",
        {"type": "string", "minLength": 1, "maxLength": 1024, "pattern": "^[A-Za-z0-9_:-]+$"},
        description="`nextCursor` of the page before.",
    ),
]
REMOVABLE_LIST_PARAMETERS = [
    OpenApiParameter("includeRemoved", bool, default=False, description="Show removed ones, too."),
    *PAGE_PARAMETERS,
]


def refuses(*errors: type[DomainError]) -> dict[str, Any]:
    """For `extend_schema(extensions=…)`: what this operation refuses beyond what all of them do."""
    return {REFUSALS: [error.code for error in errors]}


@cache
def envelope(row: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    """`{"data": row}`, as `api.responses.data` answers."""
    return inline_serializer(f"{_name(row)}Envelope", {"data": row()})


@cache
def page(row: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    """`{"data": [row, …], "nextCursor", "hasMore"}`, as `api.pagination.paginate` answers."""
    fields = {
        "data": row(many=True),
        "nextCursor": serializers.CharField(allow_null=True),
        "hasMore": serializers.BooleanField(),
    }
    return inline_serializer(f"{_name(row)}Page", fields)


def _name(row: type[serializers.Serializer[Any]]) -> str:
    return row.__name__.removesuffix("Out")


class ApiSchema(AutoSchema):
    """Tags operations by the first word of their path and names them after view and action."""

    def _is_list_view(self, serializer: Any = None) -> bool:
        """Always False: `page` describes what a list looks like."""
        return False

    def get_operation_id(self) -> str:
        noun = type(self.view).__name__.removesuffix("ViewSet")
        return f"{noun[0].lower()}{noun[1:]}_{cast(ViewSet, self.view).action}"

    def get_serializer_name(self, serializer: Any, direction: Any) -> str:
        return type(serializer).__name__.removesuffix("In").removesuffix("Out")

    def is_deprecated(self) -> bool:
        view = cast(ViewSet, self.view)
        return view.action in getattr(view, "deprecated", ())

    def get_auth(self) -> list[dict[str, list[str]]]:
        """The scope that a key must have: OpenAPI 3.1 takes names of roles for any scheme."""
        view = cast(ViewSet, self.view)
        scope = getattr(view, "scopes", {}).get(view.action)
        found: list[dict[str, list[str]]] = super().get_auth()
        return [{name: [scope] for name in scheme} if scope else scheme for scheme in found]

    def get_tags(self) -> list[str]:
        return [self.path.removeprefix("/api/v1/").split("/")[0]]


class BearerKey(OpenApiAuthenticationExtension):
    target_class = "api.authentication.ApiKeyAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "bal_test_… or bal_live_…"}


class _OwnField(OpenApiSerializerFieldExtension):
    """Describes a field that knows more of its format than its class says."""

    match_subclasses = True

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        plain = auto_schema._map_serializer_field(self.target, direction, bypass_extensions=True)
        return {**plain, "type": "string", **self.target.schema}  # the caller adds null again


class TextFieldSchema(_OwnField):
    target_class = "api.fields.TextField"
    match_subclasses = True


class PatternFieldSchema(_OwnField):
    target_class = "api.fields.PatternField"
    match_subclasses = True


class UniqueListSchema(OpenApiSerializerFieldExtension):
    target_class = "api.fields.UniqueListField"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        plain = auto_schema._map_serializer_field(self.target, direction, bypass_extensions=True)
        return {**plain, "uniqueItems": True}


class StrictSerializerSchema(OpenApiSerializerExtension):
    """Describes that unknown fields are refused, and rules that join several fields."""

    target_class = "api.serializers.StrictSerializer"
    match_subclasses = True

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        plain = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        return {**plain, "additionalProperties": False, **self.target.schema}
