"""Payments and recipients in Django's admin, read-only; staff can hold a payment before
it leaves."""

from __future__ import annotations

from django.contrib import admin
from django.utils.text import capfirst

from common.admin import AccountNumberAdmin, badge, dollars, whether
from common.admin_tones import tone_of
from payments.models import Payment, Recipient, RecipientVersion
from payments.transfer import PAYMENTS
from transfers.hold_admin import TransferAdmin


@admin.register(Payment)
class PaymentAdmin(TransferAdmin):
    list_display = ("tenant", "created_at", dollars("amount"), "to", "method", "standing")
    list_display_links = ("created_at",)
    list_filter = (
        "status",
        "method",
        "returned",
        whether("held_at", "on hold"),
        whether("held_back_at", "held back"),
    )
    list_select_related = ("tenant", "recipient")
    search_fields = (
        "id__exact",
        "tenant__id__exact",
        "recipient__id__exact",
        "trace_number__exact",
    )
    search_help_text = "The id of the payment, its tenant or its recipient, or the trace number"
    transfer = PAYMENTS
    desk_page = "desk:payment"

    @admin.display(description="to")
    def to(self, payment: Payment) -> str:
        return payment.recipient.account_holder_name

    @badge(lambda payment: tone_of("held" if payment.held_at else payment.status))
    @admin.display(description="status")
    def standing(self, payment: Payment) -> str:
        """The payment's status in words. Says that a payment is held back, which its status does
        not."""
        return capfirst(payment.standing)


@admin.register(Recipient)
class RecipientAdmin(AccountNumberAdmin):
    reveal_permission = "payments.reveal_recipient_number"
    list_display = ("tenant", "account_holder_name", "bank_name", "last4", "is_saved")
    list_display_links = ("account_holder_name",)
    list_filter = ("is_saved", "account_holder_type")
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "tenant__id__exact")
    search_help_text = "The id of the recipient or its tenant"


@admin.register(RecipientVersion)
class RecipientVersionAdmin(AccountNumberAdmin):
    """What a recipient's account was before its bank corrected it, and what the bank said."""

    reveal_permission = "payments.reveal_recipient_number"
    list_display = ("recipient", "number", "last4", "routing_number", "code", "created_at")
    list_select_related = ("recipient",)
    search_fields = ("id__exact", "recipient__id__exact")
    search_help_text = "The id of the version or its recipient"
