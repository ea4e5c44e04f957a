"""Tenants in the admin: find and create. Opening one leads to the desk's page about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from common.admin import ServiceAdmin
from common.clock import utc_now
from common.forms import TextField
from tenants import actors
from tenants.models import Mode, Tenant
from tenants.services import accounts

if TYPE_CHECKING:
    NewTenantForm = forms.ModelForm[Tenant]
else:
    NewTenantForm = forms.ModelForm


class TenantForm(NewTenantForm):
    class Meta:
        model = Tenant
        fields = ("name", "mode")
        field_classes: ClassVar = {"name": TextField}


@admin.register(Tenant)
class TenantAdmin(ServiceAdmin):
    list_display = ("name", "id", "mode", "status", "created_at")
    list_filter = ("mode", "status")
    search_fields = ("id__exact", "name")
    search_help_text = "Id or name"
    fields = ("name", "mode")
    form = TenantForm
    desk_page = "desk:tenant"

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

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
