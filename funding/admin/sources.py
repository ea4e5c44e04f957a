"""Bank accounts and their verifications in Django's admin, read-only. Account numbers, deposit
amounts and secrets are not shown."""

from __future__ import annotations

from django.contrib import admin

from common.admin import AccountNumberAdmin, ReadOnlyAdmin
from funding.models import (
    DepositEntry,
    FundingSource,
    FundingSourceVersion,
    LinkConsent,
    SourceVerification,
)


@admin.register(FundingSource)
class FundingSourceAdmin(AccountNumberAdmin):
    reveal_permission = "funding.reveal_source_number"
    list_display = (
        "tenant",
        "bank_name",
        "last4",
        "status",
        "type",
        "is_default",
        "last_return_code",
        "created_at",
    )
    list_display_links = ("bank_name",)
    list_filter = ("status", "type", "account_holder_type", "tenant__mode")
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "tenant__id__exact")
    search_help_text = "The id of the account or its tenant"


@admin.register(FundingSourceVersion)
class FundingSourceVersionAdmin(AccountNumberAdmin):
    """What an account was before its bank corrected it, and what the bank said."""

    reveal_permission = "funding.reveal_source_number"
    list_display = ("source", "number", "last4", "routing_number", "code", "created_at")
    list_select_related = ("source",)
    search_fields = ("id__exact", "source__id__exact")
    search_help_text = "The id of the version or its account"


@admin.register(SourceVerification)
class SourceVerificationAdmin(ReadOnlyAdmin):
    list_display = (
        "source",
        "created_at",
        "status",
        "tries_used",
        "expires_at",
        "verified_at",
    )
    list_filter = ("source__status",)
    list_select_related = ("source",)
    search_fields = ("id__exact", "source__id__exact")
    search_help_text = "The id of the verification or its account"
    exclude = ("amounts",)


@admin.register(DepositEntry)
class DepositEntryAdmin(ReadOnlyAdmin):
    list_display = (
        "verification",
        "part",
        "status",
        "trace_number",
        "failure_code",
        "created_at",
    )
    list_filter = ("status",)
    list_select_related = ("verification",)
    search_fields = ("id__exact", "verification__id__exact", "source__id__exact")
    search_help_text = "The id of the entry, its verification or its account"
    exclude = ("amount",)


@admin.register(LinkConsent)
class LinkConsentAdmin(ReadOnlyAdmin):
    list_display = (
        "tenant",
        "source",
        "provider",
        "created_at",
        "revoked_at",
    )
    list_display_links = ("source",)
    list_filter = ("tenant__mode",)
    list_select_related = ("tenant", "source")
    search_fields = ("id__exact", "source__id__exact", "tenant__id__exact")
    search_help_text = "The id of the consent, its account or its tenant"
    exclude = ("secret_token",)
