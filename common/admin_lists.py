"""How the admin counts the rows of a list, and what it says of that."""

from __future__ import annotations

from functools import cached_property
from typing import Any
from urllib.parse import quote

from django.core.paginator import Paginator
from django.db import connection
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from unfold.views import ChangeList

# The estimate for a partitioned table is that of its partitions: the parent has no rows of its own.
_ESTIMATE = """
SELECT coalesce(sum(greatest(reltuples, 0)), 0)::bigint
FROM pg_class
WHERE relkind = 'r'
  AND (oid = %(table)s::regclass
       OR oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = %(table)s::regclass))
"""
_KEY = "-key-"  # in the place of a row's own


class EstimatedPaginator(Paginator):  # type: ignore[type-arg]
    """Counts up to `counted_max` rows. For a whole table that is longer, takes PostgreSQL's
    estimate."""

    counted_max = 10_000  # staff who find more rows narrow the search
    pages_max = 1_000  # a page skips all rows before it: 100,000 rows are some 50 ms

    @cached_property
    def count(self) -> int:
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment]
        counted = rows.order_by()[: self.counted_max].count()
        if counted < self.counted_max or rows.query.where:
            return counted
        with connection.cursor() as cursor:
            cursor.execute(_ESTIMATE, {"table": rows.model._meta.db_table})
            estimated = cursor.fetchone()
        return max(counted, int(estimated[0]) if estimated else 0)

    @cached_property
    def num_pages(self) -> int:
        return min(super().num_pages, self.pages_max)


class FoundRows(ChangeList):  # type: ignore[misc]  # unfold ships no types
    """Says how many rows there are, beside a link to all, where a search or a filter left some.
    Without either all are shown already, and where nothing matches the list says so itself. Its
    rows lead to the desk's own pages, where there are some."""

    def url_for_result(self, result: Model) -> str:
        desk = self.model_admin
        if not getattr(desk, "desk_page", ""):
            return str(super().url_for_result(result))
        before, after = self._around_key
        return f"{before}{quote(str(getattr(result, desk.desk_key)))}{after}"

    @cached_property
    def _around_key(self) -> tuple[str, str]:
        """The address of the desk's own pages, looked up once for all rows."""
        before, _key, after = reverse(self.model_admin.desk_page, args=[_KEY]).partition(_KEY)
        return before, after

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        if not (self.result_count and (self.query or self.has_active_filters)):
            self.full_result_count = self.result_count
