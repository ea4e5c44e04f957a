"""What the networks told us; `review` is what a person must look at."""

from __future__ import annotations

from django.contrib import admin

from common.admin import ReadOnlyAdmin
from networks.inbox.models import InboundEvent


@admin.register(InboundEvent)
class InboundEventAdmin(ReadOnlyAdmin):
    list_display = ("id", "network", "instruction_id", "kind", "code", "amount", "outcome", "note")
    list_filter = ("outcome",)
    search_fields = ("event_id__exact", "instruction_id__exact")
