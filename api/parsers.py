"""A strict JSON parser: what it accepts means the same to every parser."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import IO, Any

from rest_framework.parsers import BaseParser

from api import errors

DEPTH_MAX = 20
_CHARSETS = {"utf-8", "utf8"}
_UNSTORABLE = re.compile(r"[\0\ud800-\udfff]")

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_BRACKET = re.compile(r"[\[\]{}]")


class StrictJSONParser(BaseParser):
    """UTF-8, an object at the top, no duplicate keys, no NaN, no NUL, depth at most 20."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The JSON object in the body. Raises MalformedJson, or UnsupportedMediaType for a charset
        other than UTF-8."""
        _check_charset(media_type or "")
        return parse_object(stream.read())


def parse_object(body: bytes) -> dict[str, Any]:
    """The JSON object in `body`. Raises MalformedJson."""
    try:
        value = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
        _check(value, depth=1)
    except (ValueError, RecursionError) as error:
        raise errors.MalformedJson(f"The body is not valid JSON: {_reason(error)}.") from error
    if not isinstance(value, dict):
        raise errors.MalformedJson("The body must be a JSON object.")
    return value


def _check_charset(media_type: str) -> None:
    _, _, parameters = media_type.partition(";")
    for parameter in parameters.split(";"):
        name, _, value = parameter.strip().partition("=")
        if name.lower() == "charset" and value.strip('"').lower() not in _CHARSETS:
            raise errors.UnsupportedMediaType("The charset must be UTF-8.")


class _Refused(ValueError):
    """JSON, but not of the kind that we take. The message is shown to the caller."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Refused("a key appears twice")
    return value


def _no_constant(name: str) -> None:
    raise _Refused(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _Refused("a number is too large")
    return number


def _check(value: Any, *, depth: int) -> None:
    """Refuse NUL and lone surrogates, which cannot be stored or shown, and deep nesting."""
    if isinstance(value, str):
        if _UNSTORABLE.search(value):
            raise _Refused("a string holds a NUL or a lone surrogate")
        return
    if not isinstance(value, dict | list):
        return
    if depth > DEPTH_MAX:
        raise _Refused(f"nested deeper than {DEPTH_MAX}")
    for item in value:
        _check(item, depth=depth + 1)
    if isinstance(value, dict):
        for item in value.values():
            _check(item, depth=depth + 1)


def _reason(error: Exception) -> str:
    match error:
        case _Refused():
            return str(error)
        case json.JSONDecodeError():
            return f"{error.msg} at character {error.pos}"
        case UnicodeDecodeError():
            return "not UTF-8"
        case RecursionError():
            return f"nested deeper than {DEPTH_MAX}"
    return "a number is too long"


def is_nested_too_deep(beginning: str) -> bool:
    """Whether JSON that begins so is nested too deep already. Looks at brackets only."""
    depth = 0
    for bracket in _BRACKET.finditer(_STRING.sub("", beginning)):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > DEPTH_MAX:
            return True
    return False
