"""What happened, and what was mailed: to look at, never to change."""

from __future__ import annotations

from django.contrib import admin

from common.admin import ReadOnlyAdmin
from tenants.models import AuditEvent, OutgoingEmail


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "action", "tenant", "actor_type", "actor_id", "subject_id")
    list_filter = ("actor_type", "action")
    list_select_related = ("tenant",)
    search_fields = ("=id", "=subject_id", "=actor_id", "=tenant__id", "=request_id", "action")
    search_help_text = "Event, subject, actor, tenant or request id, or the action"
    ordering = ("-created_at", "-id")


@admin.register(OutgoingEmail)
class OutgoingEmailAdmin(ReadOnlyAdmin):
    list_display = (
        "created_at",
        "template",
        "to",
        "tenant",
        "attempts",
        "sent_at",
        "failed_at",
        "last_error",
    )
    list_filter = ("template", ("failed_at", admin.EmptyFieldListFilter))
    list_select_related = ("tenant",)
    search_fields = ("=id", "=to", "=tenant__id")
    search_help_text = "Id, address or tenant"
    ordering = ("-created_at", "-id")
