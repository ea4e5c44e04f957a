"""Approvals of payments in Django's admin, read-only, and each tenant's own limit above which they
are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest
from unfold.widgets import UnfoldAdminTextInputWidget

from common.admin import ReadOnlyAdmin, ServiceAdmin, dollars
from common.clock import utc_now
from common.money import format_cents, parse_dollars
from payments.models import PaymentConfirmation, PaymentConfirmationLink, PaymentSettings
from payments.services import approval_settings
from tenants import actors

_WAITING = (dollars("next_threshold"), "next_at", "next_by")
_IT_WAITS = (
    "It protects less than before: it counts in 24 hours, unless one of the tenant's approvers"
    " agrees or refuses before."
)

if TYPE_CHECKING:
    SettingsForm = forms.ModelForm[PaymentSettings]
else:
    SettingsForm = forms.ModelForm


class LimitForm(SettingsForm):
    threshold = forms.CharField(
        label="Ask above this amount, in dollars",
        max_length=30,
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="Enter 0 to ask about every payment. Leave it empty to ask about none.",
    )

    class Meta:
        model = PaymentSettings
        fields = ("tenant",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if (cents := self.instance.approval_threshold) is not None:
            self.initial["threshold"] = format_cents(cents)

    def clean_threshold(self) -> int | None:
        """The limit in cents; None if the field is empty."""
        text = self.cleaned_data["threshold"].strip()
        cents = parse_dollars(text) if text else None
        if text and cents is None:
            raise forms.ValidationError("An amount such as 1,234.56.")
        return cents


@admin.register(PaymentConfirmation)
class PaymentConfirmationAdmin(ReadOnlyAdmin):
    list_display = ("tenant", "payment", "decision", "decided_by", "expires_at")
    list_display_links = ("payment",)
    list_filter = ("decision",)
    list_select_related = ("tenant", "payment")
    search_fields = ("id__exact", "payment__id__exact", "tenant__id__exact")
    search_help_text = "The id of the approval, its payment or its tenant"


@admin.register(PaymentConfirmationLink)
class PaymentConfirmationLinkAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "approver_email", "confirmation")
    list_select_related = ("confirmation",)
    search_fields = ("id__exact", "confirmation__id__exact")
    search_help_text = "The id of the link or its approval"
    exclude = ("digest",)


@admin.register(PaymentSettings)
class PaymentSettingsAdmin(ServiceAdmin):
    list_display = ("tenant", dollars("approval_threshold"), "updated_at")
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "tenant__id__exact")
    search_help_text = "The id of the settings or their tenant"
    autocomplete_fields = ("tenant",)

    form = LimitForm

    def get_fields(self, request: HttpRequest, obj: PaymentSettings | None = None) -> Any:
        return ("tenant", "threshold", *_WAITING) if obj else ("tenant", "threshold")

    def get_readonly_fields(self, request: HttpRequest, obj: PaymentSettings | None = None) -> Any:
        return ("tenant", *_WAITING) if obj else ()

    def save_model(
        self,
        request: HttpRequest,
        obj: PaymentSettings,
        form: SettingsForm,
        change: bool,
    ) -> None:
        saved = approval_settings.set_threshold(
            tenant_id=obj.tenant_id,
            threshold=form.cleaned_data["threshold"],
            actor=actors.staff(str(request.user.pk)),
            now=utc_now(),
        )
        obj.pk = saved.pk
        if saved.next_at:
            messages.warning(request, _IT_WAITS)
