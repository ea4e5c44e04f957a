"""Bank accounts and their verification, to look at: neither numbers nor deposit amounts."""

from __future__ import annotations

from typing import ClassVar

from django.contrib import admin

from common.admin import AccountNumberAdmin, ReadOnlyAdmin
from funding.models import FundingSource, SourceVerification

_TENANT = ("tenant__id", "tenant__name")


@admin.register(FundingSource)
class FundingSourceAdmin(AccountNumberAdmin):
    reveal_permission = "funding.reveal_source_number"
    list_display = (
        "id",
        "tenant",
        "bank_name",
        "last4",
        "status",
        "type",
        "is_default",
        "last_return_code",
        "created_at",
    )
    list_filter = ("status", "type", "account_holder_type", "tenant__mode", "last_return_code")
    list_select_related = ("tenant",)
    search_fields = ("=id", *_TENANT, "=last4", "=routing_number", "account_holder_name")
    search_help_text = "Id, tenant, last digits, routing number or account holder"
    ordering = ("-created_at", "-id")


@admin.register(SourceVerification)
class SourceVerificationAdmin(ReadOnlyAdmin):
    list_display = (
        "id",
        "source",
        "status",
        "tries_used",
        "next_attempt_at",
        "expires_at",
        "verified_at",
        "created_at",
    )
    list_filter: ClassVar = ("source__status", "tries_used")
    list_select_related = ("source",)
    search_fields = ("=id", "=source__id", "source__tenant__id", "source__tenant__name")
    search_help_text = "Id, source or tenant"
    exclude = ("amounts",)
    ordering = ("-created_at", "-id")
