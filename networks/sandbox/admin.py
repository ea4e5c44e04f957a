"""The sandbox bank's books, to look at."""

from __future__ import annotations

from django.contrib import admin

from common.admin import ReadOnlyAdmin, dollars
from networks.sandbox.models import SandboxEvent, SandboxInstruction


@admin.register(SandboxInstruction)
class SandboxInstructionAdmin(ReadOnlyAdmin):
    list_display = (
        "created_at",
        "external_id",
        "network",
        "method",
        dollars("amount"),
        "submissions",
        "accepted_at",
    )
    list_filter = ("method",)
    search_fields = ("external_id__exact",)
    search_help_text = "The id of the funding or payment"
    ordering = ("-number",)


@admin.register(SandboxEvent)
class SandboxEventAdmin(ReadOnlyAdmin):
    list_display = ("instruction", "kind", "code", "due_at", "acknowledged")
    list_filter = ("kind", "acknowledged")
    list_select_related = ("instruction",)
    search_fields = ("id__exact", "instruction__external_id__exact")
    search_help_text = "The id of the event, or of the funding or payment"
