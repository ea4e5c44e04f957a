"""OpenAPI: what drf-spectacular cannot read off our views by itself."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, inline_serializer
from rest_framework import serializers
from rest_framework.viewsets import ViewSet

from api.pagination import LIMIT_DEFAULT, LIMIT_MAX

PAGE_PARAMETERS = [
    OpenApiParameter(
        "limit",
        {"type": "integer", "minimum": 1, "maximum": LIMIT_MAX},
        default=LIMIT_DEFAULT,
        description="Rows on a page.",
    ),
    OpenApiParameter("cursor", str, description="`nextCursor` of the page before."),
]
REMOVABLE_LIST_PARAMETERS = [
    OpenApiParameter("includeRemoved", bool, default=False, description="Show removed ones, too."),
    *PAGE_PARAMETERS,
]


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
        """Never: what a list looks like, `page` says."""
        return False

    def get_operation_id(self) -> str:
        noun = type(self.view).__name__.removesuffix("ViewSet")
        return f"{noun[0].lower()}{noun[1:]}_{cast(ViewSet, self.view).action}"

    def get_serializer_name(self, serializer: Any, direction: Any) -> str:
        return type(serializer).__name__.removesuffix("In").removesuffix("Out")

    def get_tags(self) -> list[str]:
        return [self.path.removeprefix("/api/v1/").split("/")[0]]


class BearerKey(OpenApiAuthenticationExtension):
    target_class = "api.authentication.ApiKeyAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "bal_test_… or bal_live_…"}
