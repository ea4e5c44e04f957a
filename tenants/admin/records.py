"""What happened, and what was mailed: to look at, never to change."""

from __future__ import annotations

from django.contrib import admin

from common.admin import ReadOnlyAdmin, whether
from tenants.models import AuditEvent, OutgoingEmail


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    list_display = (
        "created_at",
        "action",
        "tenant",
        "actor_type",
        "actor_id",
        "subject_id",
        "staff_note",
    )
    list_filter = ("actor_type",)
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "subject_id__exact", "tenant__id__exact")
    search_help_text = "The id of the event, its subject or its tenant"


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
    list_filter = (whether("failed_at", "given up"),)
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "tenant__id__exact")
    search_help_text = "The id of the message or its tenant"
