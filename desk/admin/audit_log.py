"""The audit log at the desk: in words, with names; ids are on the page of an event."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from common.admin import ReadOnlyAdmin
from dashboard.audit_log.sentences import sentence
from tenants import selectors
from tenants.models import AuditEvent


def name_all(events: Iterable[AuditEvent]) -> None:
    """Give each event its `what` and `who`. Two queries."""
    rows = list(events)
    ids = {row.actor_id for row in rows} | {row.subject_id for row in rows}
    names = selectors.people_and_keys(ids)
    for row in rows:
        subject = names.get(row.subject_id, row.subject_id)
        row.what = sentence(row.action, row.details, subject)  # type: ignore[attr-defined]
        row.who = _who(row, names)  # type: ignore[attr-defined]  # for this page alone


def _who(row: AuditEvent, names: dict[str, str]) -> str:
    kind = row.get_actor_type_display()
    name = names.get(row.actor_id, row.actor_id)
    return name if name.startswith(kind) else f"{kind} {name}".strip()


class AuditEventAdmin(ReadOnlyAdmin):
    list_display = ("tenant", "created_at", "what", "who", "address", "staff_note")
    list_display_links = ("created_at",)
    list_filter = ("actor_type",)
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "subject_id__exact", "tenant__id__exact")
    search_help_text = "The id of the event, its subject or its tenant"

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Name all events of the page at once."""
        page = super().get_changelist_instance(request)
        name_all(page.result_list)
        return page

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> AuditEvent | None:
        event: AuditEvent | None = super().get_object(request, object_id, from_field)
        if event is not None:
            name_all([event])
        return event

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("what", "who", *super().get_fields(request, obj))

    @admin.display(description="what")
    def what(self, row: Any) -> str:
        return str(row.what)

    @admin.display(description="who")
    def who(self, row: Any) -> str:
        return str(row.who)


admin.site.register(AuditEvent, AuditEventAdmin)
