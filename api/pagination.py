"""Keyset pages, newest first. A cursor is signed and bound to tenant, path, filters and order."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from django.core import signing
from django.db.models import Model, Q, QuerySet
from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from api import errors, responses
from api.authentication import TenantRequest

LIMIT_DEFAULT = 50
LIMIT_MAX = 100
PARAMETERS = ("limit", "cursor")
_SALT = "api.cursor"
_CURSOR_LENGTH_MAX = 1024
_UNKNOWN_NAMED_MAX = 20
_NOT_FROM_HERE = (
    "This cursor does not belong to this list. Send it as it came, with the same filters."
)


Fetch = Callable[[Sequence[Any] | None, int], Sequence[Any]]


def paginate(
    request: TenantRequest,
    source: QuerySet[Any] | Fetch,
    *,
    present: Callable[[Any], dict[str, Any]],
    keys: Sequence[str] = ("created_at", "pk"),
) -> HttpResponse:
    """One page of `source`, descending by `keys`, whose last one is unique per tenant.

    Costs one query, the same for page 1 and page 10,000. `source` is a queryset, or a function of
    the position to start behind (None: at the newest) and the number of rows, which come in order.
    Raises InvalidRequest, InvalidCursor, UnknownParameter.
    """
    refuse_unknown(request)
    limit = _limit(_single(request, "limit"))
    cursor = _single(request, "cursor")
    binding = _binding(request, keys)
    position = None if cursor is None else _open(cursor, binding)
    fetch = partial(_fetch, source, keys) if isinstance(source, QuerySet) else source
    rows = fetch(position, limit + 1)
    next_cursor = _signed(rows[limit - 1], keys, binding) if len(rows) > limit else None
    return responses.page([present(row) for row in rows[:limit]], next_cursor=next_cursor)


def _fetch(
    rows: QuerySet[Any], keys: Sequence[str], position: Sequence[Any] | None, count: int
) -> list[Any]:
    older = Q() if position is None else _older_than(keys, position)
    return list(rows.filter(older).order_by(*(f"-{key}" for key in keys))[:count])


def refuse_unknown(request: Request, *, paged: bool = True) -> None:
    """Refuse parameters that are neither a filter's nor a page's. Raises DRF's ValidationError."""
    filters: frozenset[str] = getattr(request, "known_parameters", frozenset())
    known = filters.union(PARAMETERS if paged else ())
    if unknown := set(request.query_params) - known:
        detail = serializers.ErrorDetail(
            f"Not a parameter here. Parameters: {', '.join(sorted(known)) or 'none'}.",
            errors.UnknownParameter.code,
        )
        raise serializers.ValidationError(
            {name: [detail] for name in sorted(unknown)[:_UNKNOWN_NAMED_MAX]}
        )


def _single(request: TenantRequest, name: str) -> str | None:
    values = request.query_params.getlist(name)
    if len(values) > 1:
        raise errors.InvalidRequest(f"Give {name} once.", field=name)
    return values[0] if values else None


def _limit(text: str | None) -> int:
    if text is None:
        return LIMIT_DEFAULT
    if re.fullmatch("[0-9]{1,3}", text) and 1 <= int(text) <= LIMIT_MAX:
        return int(text)
    raise errors.InvalidRequest(f"limit must be 1 to {LIMIT_MAX}.", field="limit")


def _binding(request: TenantRequest, keys: Sequence[str]) -> str:
    filters = sorted(
        (name, sorted(values))
        for name, values in request.query_params.lists()
        if name not in PARAMETERS
    )
    text = repr((request.auth.tenant_id, request.path, filters, list(keys)))
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _signed(row: Model | Mapping[str, Any], keys: Sequence[str], binding: str) -> str:
    values = [row[key] if isinstance(row, Mapping) else getattr(row, key) for key in keys]
    return signing.dumps([binding, [_packed(value) for value in values]], salt=_SALT)


def _open(cursor: str, binding: str) -> list[Any]:
    invalid = errors.InvalidCursor(_NOT_FROM_HERE, field="cursor")
    if len(cursor) > _CURSOR_LENGTH_MAX or not cursor.isascii():
        raise invalid
    try:
        bound_to, position = signing.loads(cursor, salt=_SALT)
    except (signing.BadSignature, ValueError) as error:
        raise invalid from error
    if bound_to != binding:
        raise invalid
    return [_unpacked(item) for item in position]


def _packed(value: Any) -> Any:
    return {"at": value.isoformat()} if isinstance(value, datetime) else value


def _unpacked(item: Any) -> Any:
    return datetime.fromisoformat(item["at"]) if isinstance(item, dict) else item


def _older_than(keys: Sequence[str], position: Sequence[Any]) -> Q:
    """The rows after `position`. The redundant first bound lets an index range start there."""
    first, *rest = keys
    if not rest:
        return Q(**{f"{first}__lt": position[0]})
    (second,) = rest
    return Q(**{f"{first}__lte": position[0]}) & (
        Q(**{f"{first}__lt": position[0]}) | Q(**{f"{second}__lt": position[1]})
    )
