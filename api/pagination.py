"""Keyset pages, newest first. A cursor is signed and bound to tenant, path and filters."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.core import signing
from django.db.models import Model, Q, QuerySet
from django.http import HttpResponse
from django.utils.dateparse import parse_datetime

from api import errors, responses
from api.authentication import TenantRequest

LIMIT_DEFAULT = 50
LIMIT_MAX = 100
PARAMETERS = ("limit", "cursor")
_SALT = "api.cursor"
_CURSOR_LENGTH_MAX = 1024


def paginate(
    request: TenantRequest,
    queryset: QuerySet[Any],
    *,
    present: Callable[[Any], dict[str, Any]],
    keys: Sequence[str] = ("created_at", "pk"),
) -> HttpResponse:
    """One page of `queryset`, descending by `keys`, whose last one is unique per tenant.

    Costs one query, the same for page 1 and page 10,000. Raises InvalidRequest, InvalidCursor.
    """
    limit = _limit(request.query_params)
    binding = _binding(request)
    if (cursor := request.query_params.get("cursor")) is not None:
        queryset = queryset.filter(_older_than(keys, _open(cursor, binding, len(keys))))
    rows = list(queryset.order_by(*(f"-{key}" for key in keys))[: limit + 1])
    next_cursor = _seal(rows[limit - 1], keys, binding) if len(rows) > limit else None
    return responses.page([present(row) for row in rows[:limit]], next_cursor=next_cursor)


def _limit(parameters: Mapping[str, str]) -> int:
    text = parameters.get("limit", str(LIMIT_DEFAULT))
    if re.fullmatch("[0-9]{1,3}", text) and 1 <= int(text) <= LIMIT_MAX:
        return int(text)
    raise errors.InvalidRequest(f"limit must be 1 to {LIMIT_MAX}.", field="limit")


def _binding(request: TenantRequest) -> str:
    filters = sorted(
        (name, sorted(values))
        for name, values in request.query_params.lists()
        if name not in PARAMETERS
    )
    text = repr((request.auth.tenant_id, request.path, filters))
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _seal(row: Model | Mapping[str, Any], keys: Sequence[str], binding: str) -> str:
    values = [row[key] if isinstance(row, Mapping) else getattr(row, key) for key in keys]
    position = [value.isoformat() if isinstance(value, datetime) else value for value in values]
    return signing.dumps([binding, position], salt=_SALT)


def _open(cursor: str, binding: str, length: int) -> list[Any]:
    invalid = errors.InvalidCursor("This cursor does not belong to this list.", field="cursor")
    if len(cursor) > _CURSOR_LENGTH_MAX or not cursor.isascii():
        raise invalid
    try:
        bound_to, position = signing.loads(cursor, salt=_SALT)
    except (signing.BadSignature, ValueError) as error:
        raise invalid from error
    if bound_to != binding or len(position) != length:
        raise invalid
    return [_value(item) for item in position]


def _value(item: Any) -> Any:
    return (parse_datetime(item) or item) if isinstance(item, str) and "T" in item else item


def _older_than(keys: Sequence[str], position: Sequence[Any]) -> Q:
    """Rows behind `position`; the redundant first bound lets an index range start there."""
    first, *rest = keys
    if not rest:
        return Q(**{f"{first}__lt": position[0]})
    (second,) = rest
    return Q(**{f"{first}__lte": position[0]}) & (
        Q(**{f"{first}__lt": position[0]}) | Q(**{f"{second}__lt": position[1]})
    )
