"""Entries of ACH, each with its tenant's name, which the networks do not know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from common.admin import ReadOnlyAdmin, dollars
from networks.ach.models import AchEntry
from networks.ach.states import EntryStatus
from tenants import selectors


def _name_tenants(entries: Iterable[AchEntry]) -> None:
    """Give each entry its `tenant_name`, its id where the name is not known. One query."""
    rows = list(entries)
    names = selectors.tenant_names({row.tenant_id for row in rows if row.tenant_id})
    for row in rows:
        row.tenant_name = names.get(row.tenant_id, row.tenant_id)  # type: ignore[attr-defined]


@admin.register(AchEntry)
class AchEntryAdmin(ReadOnlyAdmin):
    list_display = (
        "tenant",
        "counterparty",
        dollars("amount"),
        "direction",
        "status",
        "effective_date",
        "trace_number",
        "rail",
        "waits_for",
    )
    list_display_links = ("counterparty",)
    list_filter = ("status", "sec", "is_debit")
    raw_id_fields = ("batch", "original", "replaces", "originator")
    search_fields = ("instruction_id__exact", "trace_number__exact")
    search_help_text = "The id of the funding or payment, or a trace number"
    desk_page = "desk:entry"
    desk_key = "instruction_id"

    @admin.display(description="tenant")
    def tenant(self, row: Any) -> str:
        return str(row.tenant_name)

    @admin.display(description="counterparty")
    def counterparty(self, row: AchEntry) -> str:
        """Whose account it is, by the name and the digits that its bank gets."""
        return f"{row.name} ··{row.account_last4}"

    @admin.display(description="direction")
    def direction(self, row: AchEntry) -> str:
        return "Debit" if row.is_debit else "Credit"

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Name the tenants of the page at once."""
        page = super().get_changelist_instance(request)
        _name_tenants(page.result_list)
        return page

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[AchEntry], search_term: str
    ) -> tuple[QuerySet[AchEntry], bool]:
        """By the indexes, which are those of live entries and of replaced ones."""
        if not search_term:
            return queryset, False
        replaced = Q(status=EntryStatus.REQUEUED)
        mine = Q(instruction_id=search_term)
        found = Q(trace_number=search_term) | (mine & ~replaced) | (mine & replaced)
        return queryset.filter(found), False
