"""Which rows of the desk are sealed: what staff noted on items, and who worked on them."""

from __future__ import annotations

from common.sealed import DatedRows
from desk.models import Assignment, ItemNote

_OF_NO_TENANT = "NULL::text"

KINDS = (
    DatedRows(
        name="item_notes",
        label="notes on items",
        model=ItemNote,
        tenant=_OF_NO_TENANT,
        layouts=("id kind subject_id text created_by_id created_at",),
    ),
    DatedRows(
        name="item_assignments",
        label="assignments of items",
        model=Assignment,
        tenant=_OF_NO_TENANT,
        layouts=("id kind subject_id number assignee_id created_by_id created_at",),
    ),
)
