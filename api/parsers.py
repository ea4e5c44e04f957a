"""A JSON parser without surprises: what it accepts means the same to everybody."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import IO, Any

from rest_framework.parsers import BaseParser

from api import errors

DEPTH_MAX = 20
_CHARSETS = {"utf-8", "utf8"}
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
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
        """Raises MalformedJson, or UnsupportedMediaType for a charset other than UTF-8."""
        _check_charset(media_type or "")
        return parse_object(stream.read())


def parse_object(body: bytes) -> dict[str, Any]:
    """The JSON object in `body`. Raises MalformedJson."""
    try:
        text = body.decode("utf-8")
        _check_depth(text)
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise errors.MalformedJson(f"The body is not valid JSON: {_reason(error)}.") from error
    if not isinstance(value, dict):
        raise errors.MalformedJson("The body must be a JSON object.")
    _check_text(value)
    return value


def _check_charset(media_type: str) -> None:
    _, _, parameters = media_type.partition(";")
    for parameter in parameters.split(";"):
        name, _, value = parameter.strip().partition("=")
        if name.lower() == "charset" and value.strip('"').lower() not in _CHARSETS:
            raise errors.UnsupportedMediaType("The charset must be UTF-8.")


def _check_depth(text: str) -> None:
    """Refuse deep nesting before the decoder recurses into it."""
    depth = 0
    for bracket in _BRACKET.finditer(_STRING.sub("", text)):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > DEPTH_MAX:
            raise ValueError(f"nested deeper than {DEPTH_MAX}")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key appears twice")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _check_text(value: Any) -> None:
    """No NUL and no lone surrogate in any string: neither can be stored or shown."""
    if isinstance(value, str):
        if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
            raise errors.MalformedJson("A string holds a NUL or a lone surrogate.")
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_text(key)
            _check_text(item)
    elif isinstance(value, list):
        for item in value:
            _check_text(item)


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8"
    return str(error) if type(error) is ValueError and len(str(error)) < 60 else "unreadable"
