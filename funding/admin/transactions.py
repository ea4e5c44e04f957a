"""The list of funding transactions in Django's admin, read-only but for holding some."""

from __future__ import annotations

from django.contrib import admin
from django.utils.text import capfirst

from common.admin import badge, dollars, whether
from common.admin_tones import tone_of
from funding.models import FundingTransaction
from funding.transfer import FUNDING
from transfers.hold_admin import TransferAdmin


@admin.register(FundingTransaction)
class FundingTransactionAdmin(TransferAdmin):
    list_display = (
        "tenant",
        "created_at",
        dollars("amount"),
        "method",
        "trigger",
        "standing",
        "failure_code",
    )
    list_display_links = ("created_at",)
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
    transfer = FUNDING
    desk_page = "desk:funding"

    @badge(lambda funding: tone_of("held" if funding.held_at else funding.status))
    @admin.display(description="status")
    def standing(self, funding: FundingTransaction) -> str:
        return capfirst(funding.standing)
