"""Who was asked about payments, to look at, and above which amount a tenant wants to be asked."""

from __future__ import annotations

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from common.admin import ReadOnlyAdmin, ServiceAdmin, dollars
from common.clock import utc_now
from payments.models import PaymentConfirmation, PaymentConfirmationLink, PaymentSettings
from payments.services import approval_settings
from tenants import actors


@admin.register(PaymentConfirmation)
class PaymentConfirmationAdmin(ReadOnlyAdmin):
    list_display = ("payment", "tenant", dollars("amount"), "decision", "decided_by", "expires_at")
    list_filter = ("decision",)
    list_select_related = ("tenant", "payment")
    search_fields = ("id__exact", "payment__id__exact", "tenant__id__exact")


@admin.register(PaymentConfirmationLink)
class PaymentConfirmationLinkAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "approver_email", "confirmation")
    list_select_related = ("confirmation",)
    search_fields = ("id__exact", "confirmation__id__exact")
    exclude = ("digest",)


@admin.register(PaymentSettings)
class PaymentSettingsAdmin(ServiceAdmin):
    list_display = ("tenant", dollars("approval_threshold"), "updated_at")
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "tenant__id__exact")
    fields = ("tenant", "approval_threshold")
    autocomplete_fields = ("tenant",)

    def get_readonly_fields(
        self, request: HttpRequest, obj: PaymentSettings | None = None
    ) -> tuple[str, ...]:
        return ("tenant",) if obj else ()

    def save_model(
        self,
        request: HttpRequest,
        obj: PaymentSettings,
        form: forms.ModelForm[PaymentSettings],
        change: bool,
    ) -> None:
        saved = approval_settings.set_threshold(
            tenant_id=obj.tenant_id,
            threshold=obj.approval_threshold,
            actor=actors.staff(str(request.user.pk)),
            now=utc_now(),
        )
        obj.pk = saved.pk
