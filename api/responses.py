"""Successful answers: `{"data": …}`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse


def data(value: Any, *, status: int = 200, location: str | None = None) -> HttpResponse:
    """One object."""
    response = _json({"data": value}, status)
    if location is not None:
        response["Location"] = location
    return response


def page(rows: Sequence[Any], *, next_cursor: str | None) -> HttpResponse:
    """One page of a list."""
    return _json({"data": rows, "nextCursor": next_cursor, "hasMore": next_cursor is not None}, 200)


def _json(body: dict[str, Any], status: int) -> HttpResponse:
    text = json.dumps(body, separators=(",", ":"))
    response = HttpResponse(text, status=status, content_type="application/json")
    response["Cache-Control"] = "no-store"
    return response
