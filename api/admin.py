"""Stored idempotent answers in the admin, read only."""

from __future__ import annotations

from django.contrib import admin

from api.models import IdempotencyRecord
from common.admin import ReadOnlyAdmin


@admin.register(IdempotencyRecord)
class IdempotencyRecordAdmin(ReadOnlyAdmin):
    """Hides the stored answer, which is the tenant's alone."""

    list_display = ("tenant", "created_at", "key", "status")
    list_display_links = ("created_at",)
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "key__exact", "tenant__id__exact")
    search_help_text = "The Idempotency-Key, its tenant or the record's id"
    exclude = ("body_token",)
