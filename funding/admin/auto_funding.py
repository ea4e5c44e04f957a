"""Auto-funding and its approvals in Django's admin, read-only. Digests of links are not shown."""

from __future__ import annotations

from django.contrib import admin

from common.admin import ReadOnlyAdmin, dollars, whether
from funding.models import (
    AutoFundingConfig,
    AutoFundingDecision,
    Confirmation,
    ConfirmationLink,
)


@admin.register(AutoFundingConfig)
class AutoFundingConfigAdmin(ReadOnlyAdmin):
    list_display = (
        "tenant",
        "enabled",
        dollars("low_balance_threshold"),
        dollars("funding_amount"),
        "funding_method",
        "paused_reason",
        "paused_until",
        "last_triggered_at",
    )
    list_filter = ("enabled", whether("paused_reason", "paused"), "funding_method")
    list_select_related = ("tenant",)
    search_fields = ("tenant__id__exact",)
    search_help_text = "The id of the tenant"


@admin.register(AutoFundingDecision)
class AutoFundingDecisionAdmin(ReadOnlyAdmin):
    list_display = (
        "tenant",
        "created_at",
        "outcome",
        "reason",
        dollars("available"),
        dollars("amount"),
    )
    list_display_links = ("created_at",)
    list_filter = ("outcome",)
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "tenant__id__exact", "funding__id__exact")
    search_help_text = "The id of the decision, its tenant or its funding"


@admin.register(Confirmation)
class ConfirmationAdmin(ReadOnlyAdmin):
    list_display = ("tenant", "funding", "decision", "decided_by", "expires_at")
    list_display_links = ("funding",)
    list_filter = ("decision",)
    list_select_related = ("tenant", "funding")
    search_fields = ("id__exact", "funding__id__exact", "tenant__id__exact")
    search_help_text = "The id of the approval, its funding or its tenant"


@admin.register(ConfirmationLink)
class ConfirmationLinkAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "approver_email", "confirmation")
    list_select_related = ("confirmation",)
    search_fields = ("id__exact", "confirmation__id__exact")
    search_help_text = "The id of the link or its approval"
    exclude = ("digest",)
