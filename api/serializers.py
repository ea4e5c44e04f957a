"""The base of every request body."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

from rest_framework import serializers

from api.errors import UnknownField
from tenants.models import ActorType

_UNKNOWN_FIELDS_NAMED = 20


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses unknown fields, so that a typing error never passes silently."""

    schema: ClassVar[dict[str, Any]] = {}
    """Rules over several fields, as JSON Schema says them."""

    def to_internal_value(self, data: Any) -> Any:
        writable = [name for name, field in self.fields.items() if not field.read_only]
        if isinstance(data, dict) and (unknown := set(data).difference(writable)):
            known = ", ".join(writable) or "none"
            detail = serializers.ErrorDetail(
                f"This field is not known. Fields here: {known}.", UnknownField.code
            )
            raise serializers.ValidationError(
                {name: [detail] for name in sorted(unknown)[:_UNKNOWN_FIELDS_NAMED]}
            )
        return super().to_internal_value(data)


class CreatedByOut(serializers.Serializer[Any]):
    """Who asked for something."""

    type = serializers.ChoiceField(choices=ActorType.choices)
    id = serializers.CharField(allow_null=True)


def validated(serializer: type[StrictSerializer], body: Any) -> Any:
    """The checked values of a request body. Raises DRF's ValidationError."""
    return _checker(serializer).run_validation(body)


@cache
def _checker(serializer: type[StrictSerializer]) -> StrictSerializer:
    """One serializer for all requests. It stores no data, and copying its fields costs more than
    checking a body."""
    return serializer()
