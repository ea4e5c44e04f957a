"""Keyset pages for people: newest first, page 1 and page 10,000 cost the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import CharField, Model, Q, QuerySet
from django.http import Http404

from common.engine.compiled_rows import Rows

Row = TypeVar("Row", bound=Model)

SIZE = 25
_DIGITS_MAX = 18  # of a number of 64 bits


@dataclass(frozen=True)
class Page:
    """Some rows of a list. `older` is the address parameter of the next page, empty on the last."""

    rows: list[Any]
    older: str
    is_newest: bool


def page(
    queryset: QuerySet[Any, Any],
    *,
    before: str,
    keys: Sequence[str] = ("created_at", "id"),
    size: int = SIZE,
    unfiltered: QuerySet[Any, Any] | None = None,
    newest: Callable[[], list[Any]] | None = None,
) -> Page:
    """The rows that follow the one with id `before` (the newest ones when empty).

    `keys`, descending, are the order; the last one is unique within the list. `unfiltered` is the
    whole list, where the row `before` may have left the filtered one. `newest` reads what the list
    begins with (`newest_of`). Raises Http404 when the list has no row `before`.
    """
    anchors = queryset if unfiltered is None else unfiltered
    rows = queryset.order_by(*(f"-{key}" for key in keys))
    if before:
        rows = rows.filter(_follows(keys, _position(anchors, before, keys)))
    found = newest() if newest and not before else list(rows[: size + 1])
    older = _value(found[size - 1], "id") if len(found) > size else ""
    return Page(rows=found[:size], older=older, is_newest=not before)


def behind(
    queryset: QuerySet[Row], after: str, *, key: str, size: int = SIZE
) -> tuple[list[Row], int | None]:
    """The rows behind the one whose `key`, a number, is `after` (the first ones when empty), and
    behind which one the next page begins; None on the last. Raises Http404 for what is no number.
    """
    rows = queryset.order_by(key)
    if after:
        if not after.isascii() or not after.isdecimal() or len(after) > _DIGITS_MAX:
            raise Http404
        rows = rows.filter(**{f"{key}__gt": int(after)})
    found = list(rows[: size + 1])
    return found[:size], getattr(found[size - 1], key) if len(found) > size else None


def newest_of(rows: Callable[..., QuerySet[Any]]) -> Rows[Any]:
    """The first page of all that a tenant has of `rows(tenant_id=…)`, compiled once."""

    def build(tenant_id: str) -> QuerySet[Any]:
        return rows(tenant_id=tenant_id).order_by("-created_at", "-id")[: SIZE + 1]

    return Rows(build, tenant_id=CharField())


def _position(queryset: QuerySet[Any, Any], before: str, keys: Sequence[str]) -> tuple[Any, ...]:
    if "\0" in before:  # PostgreSQL could not even be asked for it
        raise Http404
    position = queryset.filter(id=before).values_list(*keys).first()
    if position is None:
        raise Http404
    return tuple(position)


def _follows(keys: Sequence[str], position: tuple[Any, ...]) -> Q:
    """The condition for rows behind `position`. Its first bound is redundant, and lets an index
    range start there.
    """
    first, *rest = keys
    if not rest:
        return Q(**{f"{first}__lt": position[0]})
    (second,) = rest
    ties = Q(**{f"{first}__lt": position[0]}) | Q(**{f"{second}__lt": position[1]})
    return Q(**{f"{first}__lte": position[0]}) & ties


def _value(row: Any, name: str) -> str:
    return str(row[name] if isinstance(row, Mapping) else getattr(row, name))
