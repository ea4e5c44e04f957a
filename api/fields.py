"""Serializer fields that take exactly one JSON type and never convert."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Container, Sequence
from datetime import datetime
from typing import Any, ClassVar

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from common import clock, text
from common.money import AMOUNT_MAX

METADATA_PAIRS_MAX = 20
_METADATA_KEY_MAX = 40
_METADATA_VALUE_MAX = 500
_NO_NUL = {"pattern": r"^[^\u0000]*$"}


class StrictIntegerField(serializers.IntegerField):
    """An integer token: not `100.0`, `1e2`, `"100"` or `true`."""

    default_error_messages: ClassVar = {
        "invalid": "Send a JSON integer: digits only, without quotes, point or exponent."
    }

    def to_internal_value(self, data: Any) -> int:
        if type(data) is not int:
            self.fail("invalid")
        return data


class CentsField(StrictIntegerField):
    """An amount in cents, at least 1 unless given another `min_value`."""

    default_error_messages: ClassVar = {
        "invalid": "Send cents as a JSON integer, without quotes or point: 25000 is $250.00.",
        "min_value": "Send at least {min_value} (cents).",
        "max_value": "Send at most {max_value} (cents).",
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"min_value": 1, "max_value": AMOUNT_MAX, **kwargs})


class StrictBooleanField(serializers.BooleanField):
    """`true` or `false`, nothing that resembles one of them."""

    default_error_messages: ClassVar = {"invalid": "Send true or false, without quotes."}

    def to_internal_value(self, data: Any) -> bool:
        if type(data) is not bool:
            self.fail("invalid")
        return data


class TextField(serializers.CharField):
    """One line of visible text, in NFC: no control, bidirectional or zero-width characters."""

    default_error_messages: ClassVar = {
        "invisible": "This holds characters that cannot be seen, such as a line break."
    }
    unseen: ClassVar = text.INVISIBLE
    lines: ClassVar = False

    @property
    def schema(self) -> dict[str, Any]:
        """What the reference says beyond type and length."""
        if self.allow_blank:
            return {"pattern": f"^[^{self.unseen}]*$"}
        return {"pattern": f"^[^{self.unseen}]*[^{self.unseen}\\s][^{self.unseen}]*$"}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        try:
            return str(super().to_internal_value(text.composed(data, lines=self.lines)))
        except text.Unseen:
            self.fail("invisible")


class LinesField(TextField):
    """Text of one or more lines, otherwise as `TextField`."""

    default_error_messages: ClassVar = {
        "invisible": "This holds characters that cannot be seen, other than line breaks."
    }
    unseen: ClassVar = text.INVISIBLE_IN_LINES
    lines: ClassVar = True


@extend_schema_field({"type": "string", "anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]})
class AddressField(serializers.Field[str, Any, str, Any]):
    """A network address: IPv4 or IPv6, without a port or a zone."""

    default_error_messages: ClassVar = {
        "invalid_format": "Send an IP address, such as 203.0.113.7 or 2001:db8::7."
    }

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str) or "%" in data:
            self.fail("invalid_format")
        try:
            return str(ipaddress.ip_address(data))
        except ValueError:
            self.fail("invalid_format")

    def to_representation(self, value: str) -> str:
        return value


class PatternField(serializers.CharField):
    """A string that matches a pattern from start to end, taken as it is."""

    def __init__(self, pattern: str, *, message: str, **kwargs: Any) -> None:
        self._pattern = re.compile(pattern)
        self._message = message
        super().__init__(trim_whitespace=False, **kwargs)

    @property
    def schema(self) -> dict[str, Any]:
        """What the reference says beyond type and length."""
        return {"pattern": f"^{self._pattern.pattern}$"}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        if not self._pattern.fullmatch(data):
            raise serializers.ValidationError(self._message, code="invalid_format")
        return data


@extend_schema_field(OpenApiTypes.DATETIME)
class InstantField(serializers.Field[datetime, Any, str, Any]):
    """A moment: ISO 8601 with an offset."""

    default_error_messages: ClassVar = {
        "invalid_format": "Send a time with its offset, such as 2026-11-20T15:00:00Z."
    }

    def to_internal_value(self, data: Any) -> datetime:
        try:
            return clock.parse(data)
        except (TypeError, ValueError):
            self.fail("invalid_format")

    def to_representation(self, value: datetime) -> str:
        return clock.text_of(value)


class StrictChoiceField(serializers.ChoiceField):
    """One of a few strings, in exactly that spelling. The message does not repeat what was sent."""

    def __init__(self, choices: Sequence[str], **kwargs: Any) -> None:
        super().__init__(choices=list(choices), **kwargs)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str) or data not in self.choices:
            known = ", ".join(self.choices)
            raise serializers.ValidationError(f"Choose one of: {known}.", code="invalid_choice")
        return data


class MethodField(StrictChoiceField):
    """One of the documented methods, or one that this deployment offers besides."""

    def __init__(
        self, choices: Sequence[str], *, offered: Callable[[], Container[str]], **kwargs: Any
    ) -> None:
        super().__init__(choices, **kwargs)
        self.offered = offered

    def to_internal_value(self, data: Any) -> str:
        is_offered = isinstance(data, str) and data in self.offered()
        return data if is_offered else super().to_internal_value(data)


class UniqueListField(serializers.ListField):
    """A list without duplicates."""

    default_error_messages: ClassVar = {
        "duplicate": "Each may be given once.",
        "not_a_list": "Send a JSON list, also for one.",
    }

    def to_internal_value(self, data: Any) -> list[Any]:
        items: list[Any] = super().to_internal_value(data)
        if len(set(items)) != len(items):
            self.fail("duplicate")
        return items


@extend_schema_field(
    {
        "type": "object",
        "maxProperties": METADATA_PAIRS_MAX,
        "propertyNames": {"minLength": 1, "maxLength": _METADATA_KEY_MAX, **_NO_NUL},
        "additionalProperties": {"type": "string", "maxLength": _METADATA_VALUE_MAX, **_NO_NUL},
    }
)
class MetadataField(serializers.Field[dict[str, str], Any, dict[str, str], Any]):
    """Up to 20 pairs of strings, stored for the caller and never interpreted."""

    default_error_messages: ClassVar = {
        "invalid": (
            f"Send an object of up to {METADATA_PAIRS_MAX} strings, keys up to "
            f"{_METADATA_KEY_MAX} and values up to {_METADATA_VALUE_MAX} characters."
        )
    }

    def to_internal_value(self, data: Any) -> dict[str, str]:
        if not isinstance(data, dict) or len(data) > METADATA_PAIRS_MAX:
            self.fail("invalid")
        if not all(_is_pair(key, value) for key, value in data.items()):
            self.fail("invalid")
        return data

    def to_representation(self, value: dict[str, str]) -> dict[str, str]:
        return value


def _is_pair(key: str, value: Any) -> bool:
    return (
        isinstance(value, str)
        and 1 <= len(key) <= _METADATA_KEY_MAX
        and len(value) <= _METADATA_VALUE_MAX
    )
