"""Funding transactions with their history in Django's admin, read-only but for holding one."""

from __future__ import annotations

from django.contrib import admin

from common.admin import dollars, whether
from funding.models import FundingEvent, FundingTransaction
from funding.transfer import FUNDING
from transfers.hold_admin import HistoryInline, TransferAdmin


class FundingHistory(HistoryInline):
    model = FundingEvent
    fields = (*HistoryInline.fields, "network_reference")


@admin.register(FundingTransaction)
class FundingTransactionAdmin(TransferAdmin):
    list_display = (
        "id",
        "tenant",
        dollars("amount"),
        "method",
        "trigger",
        "status",
        "held_at",
        "failure_code",
        "created_at",
    )
    list_filter = (
        "status",
        "method",
        "trigger",
        "returned",
        whether("held_at", "on hold"),
    )
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "tenant__id__exact", "source__id__exact", "trace_number__exact")
    search_help_text = "The id of the funding, its tenant or its bank account, or the trace number"
    inlines = (FundingHistory,)
    transfer = FUNDING
