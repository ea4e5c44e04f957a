"""Long lists of transfers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import Q, QuerySet

from transfers.contract import Row


def newest_first(rows: QuerySet[Row], *, chunk: int = 1_000) -> Iterator[Row]:
    """Every row, chunk by chunk, each chunk in a short query, so that no snapshot is held in
    between."""
    rows = rows.order_by("-created_at", "-pk")
    part = list(rows[:chunk])
    while part:
        yield from part
        last: Any = part[-1]
        behind = Q(created_at__lt=last.created_at) | Q(pk__lt=last.pk)
        part = list(rows.filter(behind, created_at__lte=last.created_at)[:chunk])
