"""Pages of lists that are too long to count."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.core.paginator import Paginator
from django.db import connection
from django.db.models import QuerySet

# Counting stops here: who has more results narrows the search.
COUNTED_MAX = 10_000
# The last page costs as much as skipping all before it: 100,000 rows are some 50 ms.
PAGES_MAX = 1_000

# Partitions count, their parent does not: it has no rows of its own.
_ESTIMATE = """
SELECT coalesce(sum(greatest(reltuples, 0)), 0)::bigint
FROM pg_class
WHERE relkind = 'r'
  AND (oid = %(table)s::regclass
       OR oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = %(table)s::regclass))
"""


class EstimatedPaginator(Paginator):  # type: ignore[type-arg]
    """Counts up to 10,000 rows; a whole table longer than that as PostgreSQL estimates it."""

    @cached_property
    def count(self) -> int:
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment]
        counted = rows.order_by()[:COUNTED_MAX].count()
        if counted < COUNTED_MAX or rows.query.where:
            return counted
        return max(counted, _estimate(rows.model._meta.db_table))

    @cached_property
    def num_pages(self) -> int:
        return min(super().num_pages, PAGES_MAX)


def _estimate(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_ESTIMATE, {"table": table})
        row = cursor.fetchone()
    return int(row[0]) if row else 0
