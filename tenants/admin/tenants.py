"""Tenants: create, suspend, release."""

from __future__ import annotations

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from common.admin import ServiceAdmin
from common.clock import utc_now
from tenants import actors
from tenants.models import Mode, Tenant
from tenants.services import accounts


@admin.register(Tenant)
class TenantAdmin(ServiceAdmin):
    list_display = ("name", "id", "mode", "status", "created_at")
    list_filter = ("mode", "status")
    search_fields = ("=id", "name")
    search_help_text = "Id or name"
    ordering = ("name",)
    fields = ("name", "mode")
    actions = ("suspend", "release")

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_suspend_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("tenants.change_tenant")

    def save_model(
        self, request: HttpRequest, obj: Tenant, form: forms.ModelForm[Tenant], change: bool
    ) -> None:
        made = accounts.create_tenant(
            name=obj.name,
            mode=Mode(obj.mode),
            actor=actors.staff(str(request.user.pk)),
            now=utc_now(),
        )
        obj.pk = made.pk

    @admin.action(description="Suspend: stop everything", permissions=["suspend"])
    def suspend(self, request: HttpRequest, queryset: QuerySet[Tenant]) -> None:
        for tenant in queryset:
            accounts.suspend(
                tenant_id=tenant.pk, actor=actors.staff(str(request.user.pk)), now=utc_now()
            )
        messages.success(request, f"Suspended: {len(queryset)}")

    @admin.action(description="Release from suspension", permissions=["suspend"])
    def release(self, request: HttpRequest, queryset: QuerySet[Tenant]) -> None:
        for tenant in queryset:
            accounts.release(
                tenant_id=tenant.pk, actor=actors.staff(str(request.user.pk)), now=utc_now()
            )
        messages.success(request, f"Released: {len(queryset)}")
