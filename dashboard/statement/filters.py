"""What narrows the statement: read from the address, so that a link shows the same lines."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from django import forms
from django.db.models import QuerySet

from balance import selectors as ledger
from balance.kinds import PostingType
from common import days, ids
from dashboard.shell.filter_forms import DaysFilter, either

_SOURCES = ("ftx", "pay", "adj")
_A_MOMENT = timedelta(microseconds=1)


class TransactionFilter(DaysFilter):
    """The filter of the statement; every field is optional."""

    search = forms.CharField(
        label="ID",
        required=False,
        max_length=64,
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": "btx_, ftx_ or pay_…"}),
    )
    type = either("Type", list(PostingType.choices), "All types")

    field_order = ("search", "type", "since", "until")

    def clean_search(self) -> str:
        text: str = self.cleaned_data["search"].strip().lower()
        if text and not any(ids.is_id(text, prefix) for prefix in ("btx", *_SOURCES)):
            raise forms.ValidationError("Enter the full ID of a transaction, top-up or payment.")
        return text

    def rows(self, *, tenant_id: str) -> QuerySet[Any, Any]:
        """The lines of a valid form; of any other one, none."""
        if not self.is_valid():
            return ledger.transactions(tenant_id).none()
        data = self.cleaned_data
        search = data["search"]
        is_line = ids.is_id(search, "btx")
        rows = ledger.transactions(
            tenant_id,
            types=[data["type"]] if data["type"] else (),
            source_id=search if search and not is_line else None,
            **_bounds(data),
        )
        return rows.filter(pk=search) if is_line else rows


def _bounds(data: Mapping[str, Any]) -> dict[str, Any]:
    """Both bounds of the ledger's reads are exclusive."""
    since: date | None = data["since"]
    until: date | None = data["until"]
    return {
        "created_after": days.start_of(since) - _A_MOMENT if since else None,
        "created_before": days.start_of(until + timedelta(days=1)) if until else None,
    }
