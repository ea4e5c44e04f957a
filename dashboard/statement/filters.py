"""What narrows the list of transactions: read from the address, so that a link shows the same."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

from django import forms
from django.db.models import QuerySet

from balance import movements
from balance import selectors as ledger
from balance.kinds import PostingType
from balance.movements import LINES_OF, Direction, Movement, Part, Span
from common import days, ids
from common.errors import NotFound
from dashboard.shell import paging
from dashboard.shell.filter_forms import DaysFilter, either
from dashboard.shell.paging import Page

_SOURCES = ("ftx", "pay", "adj")
_A_MOMENT = timedelta(microseconds=1)


class _StatementFilter(DaysFilter):
    """By an id and by days; every field is optional."""

    search = forms.CharField(
        label="ID",
        required=False,
        max_length=64,
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": "btx_, ftx_ or pay_…"}),
    )

    field_order = ("search", "type", "since", "until")

    def clean_search(self) -> str:
        text: str = self.cleaned_data["search"].strip().lower()
        if text and not any(ids.is_id(text, prefix) for prefix in ("btx", *_SOURCES)):
            raise forms.ValidationError("Enter the full ID of a transaction, top-up or payment.")
        return text

    def moments(self) -> tuple[datetime | None, datetime | None]:
        """The moment at which the days begin, and the one at which they are over."""
        since: date | None = self.cleaned_data["since"]
        until: date | None = self.cleaned_data["until"]
        return (
            days.start_of(since) if since else None,
            days.start_of(until + timedelta(days=1)) if until else None,
        )


class MovementFilter(_StatementFilter):
    """The filter of movements."""

    type = either("Type", list(Direction.choices), "All types")

    def page(self, *, tenant_id: str, before: str) -> Page:
        """Movements of a valid form, newest first, from the one behind the line `before` on; of any
        other one, none. Raises NotFound if the tenant has no line `before`."""
        at = movements.position(tenant_id=tenant_id, line_id=before) if before else None
        rows = self._movements(tenant_id, at) if self.is_valid() else []
        older = rows[paging.SIZE - 1].id if len(rows) > paging.SIZE else ""
        return Page(rows=rows[: paging.SIZE], older=older, is_newest=not before)

    def _movements(self, tenant_id: str, before: int | None) -> list[Movement]:
        direction, search = self.cleaned_data["type"], self.cleaned_data["search"]
        try:
            part = _part(tenant_id, search) if search else None
        except NotFound:
            return []
        return movements.newest(
            tenant_id,
            span=self._span(tenant_id),
            direction=Direction(direction) if direction else None,
            part=part,
            before=before,
            count=paging.SIZE + 1,
        )

    def _span(self, tenant_id: str) -> Span:
        since, until = self.moments()
        return movements.between(tenant_id, since, until)


def _part(tenant_id: str, search: str) -> Part:
    if ids.is_id(search, "btx"):
        return movements.part_of(tenant_id=tenant_id, line_id=search)
    return Part(search)


class TransactionFilter(_StatementFilter):
    """The filter of ledger lines, and of their file."""

    type = either("Type", [*Direction.choices, *PostingType.choices], "All types")

    def rows(self, *, tenant_id: str) -> QuerySet[Any, Any]:
        """The lines of a valid form; of any other one, none."""
        if not self.is_valid():
            return ledger.transactions(tenant_id).none()
        search, (since, until) = self.cleaned_data["search"], self.moments()
        is_line = ids.is_id(search, "btx")
        rows = ledger.transactions(
            tenant_id,
            types=self._types(),
            source_id=search if search and not is_line else None,
            # Both bounds of the ledger's reads are exclusive.
            created_after=since - _A_MOMENT if since else None,
            created_before=until,
        )
        return rows.filter(pk=search) if is_line else rows

    def _types(self) -> tuple[str, ...]:
        chosen = self.cleaned_data["type"]
        if chosen in Direction.values:
            return LINES_OF[Direction(chosen)]
        return (chosen,) if chosen else ()
