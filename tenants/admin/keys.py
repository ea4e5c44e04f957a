"""API keys in the admin: issue one, set its rate, revoke it. Keys and digests are never listed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from common.admin import ServiceAdmin, whether
from common.clock import utc_now
from common.forms import TextField
from tenants import actors, scopes
from tenants.models import ApiKey
from tenants.services import keys

_ISSUED_WITH = ("tenant", "name", "scopes", "expires_at", "allowed_networks")
_KEPT = ("id", "prefix", "created_at", "last_used_at", "revoked_at")
_SET_BY_STAFF = ("reads_per_second", "writes_per_second")


if TYPE_CHECKING:
    KeyForm = forms.ModelForm[ApiKey]
else:
    KeyForm = forms.ModelForm


class IssueForm(KeyForm):
    scopes = forms.MultipleChoiceField(
        choices=[(scope, scope) for scope in scopes.ALL],
        initial=scopes.ALL,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
    )

    class Meta:
        model = ApiKey
        fields = _ISSUED_WITH
        field_classes: ClassVar = {"name": TextField}


@admin.register(ApiKey)
class ApiKeyAdmin(ServiceAdmin):
    list_display = (
        "name",
        "tenant",
        "prefix",
        "created_at",
        "last_used_at",
        "expires_at",
        "revoked_at",
    )
    list_filter = (whether("revoked_at", "revoked"), "tenant__mode")
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "prefix__exact", "tenant__id__exact")
    search_help_text = (
        "The id of the key, its prefix (the key up to its 17th character) or its tenant"
    )
    autocomplete_fields = ("tenant",)
    actions = ("revoke",)

    def get_form(self, request: HttpRequest, obj: ApiKey | None = None, **kwargs: Any) -> Any:
        form = {} if obj else {"form": IssueForm}
        return super().get_form(request, obj, **{**form, **kwargs})

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        return (*_ISSUED_WITH, *_KEPT, *_SET_BY_STAFF) if obj else _ISSUED_WITH

    def get_readonly_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        return (*_ISSUED_WITH, *_KEPT) if obj else ()

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        actor, chosen = actors.staff(str(request.user.pk)), form.cleaned_data
        if change:
            pace = {name: chosen[name] for name in _SET_BY_STAFF}
            keys.set_pace(key_id=obj.pk, actor=actor, now=utc_now(), **pace)
            return
        issued = keys.issue(actor=actor, now=utc_now(), **chosen)
        obj.pk = issued.key.pk
        obj.issued_text = issued.text  # type: ignore[attr-defined]  # for `response_add` alone

    def response_add(
        self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Show the new key, once. The admin lets no browser cache the page."""
        values = {
            **self.admin_site.each_context(request),
            "title": f"API key of {obj.tenant}",
            "issued_text": obj.issued_text,  # type: ignore[attr-defined]
        }
        return TemplateResponse(request, "admin/api_key_issued.html", values)

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("tenants.change_apikey")

    @admin.action(description="Revoke at once", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        actor = actors.staff(str(request.user.pk))
        ended = sum(keys.revoke(key_id=key.pk, actor=actor, now=utc_now()) for key in queryset)
        messages.success(request, f"Revoked: {ended}")
