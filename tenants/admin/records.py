"""E-mails that were queued and sent, read only."""

from __future__ import annotations

from django.contrib import admin

from common.admin import ReadOnlyAdmin, whether
from tenants.models import OutgoingEmail


@admin.register(OutgoingEmail)
class OutgoingEmailAdmin(ReadOnlyAdmin):
    list_display = (
        "tenant",
        "created_at",
        "template",
        "to",
        "attempts",
        "sent_at",
        "failed_at",
        "last_error",
    )
    list_display_links = ("created_at",)
    list_filter = (whether("failed_at", "given up"),)
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "tenant__id__exact")
    search_help_text = "The id of the message or its tenant"
