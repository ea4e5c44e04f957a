"""Authorizations of debits in Django's admin, read-only: staff look, the account holder decides."""

from __future__ import annotations

from django.contrib import admin

from common.admin import ReadOnlyAdmin, dollars, whether
from funding.models import AuthorizedDebit, DebitAuthorization


@admin.register(DebitAuthorization)
class DebitAuthorizationAdmin(ReadOnlyAdmin):
    list_display = (
        "tenant",
        "source",
        "kind",
        "scope",
        dollars("amount_max"),
        "accepted_at",
        "ended_at",
        "ended_because",
    )
    list_display_links = ("source",)
    list_filter = ("kind", "scope", whether("ended_because", "ended"), "tenant__mode")
    list_select_related = ("tenant", "source")
    search_fields = ("id__exact", "source__id__exact", "tenant__id__exact")
    search_help_text = "The id of the authorization, its account or its tenant"


@admin.register(AuthorizedDebit)
class AuthorizedDebitAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "funding", "authorization", "kind", "in_force_at")
    list_filter = ("kind",)
    list_select_related = ("funding", "authorization")
    search_fields = ("id__exact", "funding__id__exact", "authorization__id__exact")
    search_help_text = "The id of the funding or the authorization"
