"""API keys in the admin: set a rate, revoke. Tenants issue them; no key or digest is shown."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from common.admin import ServiceAdmin, whether
from common.clock import utc_now
from tenants import actors
from tenants.models import ApiKey
from tenants.services import keys

_KEPT = (
    "tenant",
    "name",
    "scopes",
    "expires_at",
    "allowed_networks",
    "may_loosen_auto_funding",
    "id",
    "prefix",
    "created_at",
    "last_used_at",
    "revoked_at",
)
_SET_BY_STAFF = ("reads_per_second", "writes_per_second")


@admin.register(ApiKey)
class ApiKeyAdmin(ServiceAdmin):
    list_display = (
        "tenant",
        "name",
        "prefix",
        "created_at",
        "last_used_at",
        "expires_at",
        "revoked_at",
    )
    list_display_links = ("name",)
    list_filter = (whether("revoked_at", "revoked"), "tenant__mode")
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "prefix__exact", "tenant__id__exact")
    search_help_text = (
        "The id of the key, its prefix (the key up to its 17th character) or its tenant"
    )
    fields = (*_KEPT, *_SET_BY_STAFF)
    readonly_fields = _KEPT
    actions = ("revoke",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Staff hold no tenant's credentials (decision 0168)."""
        return False

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        pace = {name: form.cleaned_data[name] for name in _SET_BY_STAFF}
        actor = actors.staff(str(request.user.pk))
        keys.set_pace(key_id=obj.pk, actor=actor, now=utc_now(), **pace)

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("tenants.change_apikey")

    @admin.action(description="Revoke at once", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        actor = actors.staff(str(request.user.pk))
        ended = sum(keys.revoke(key_id=key.pk, actor=actor, now=utc_now()) for key in queryset)
        messages.success(request, f"Revoked: {ended}")
