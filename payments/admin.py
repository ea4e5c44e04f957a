"""Payments and recipients, to look at; staff can hold a payment before it leaves."""

from __future__ import annotations

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from common.admin import AccountNumberAdmin, ReadOnlyAdmin, ReadOnlyInline
from common.clock import utc_now
from common.errors import DomainError
from payments.models import Payment, PaymentEvent, Recipient
from payments.services import holds
from tenants import actors


class HistoryInline(ReadOnlyInline):
    model = PaymentEvent
    fields = (
        "sequence",
        "from_status",
        "to_status",
        "actor_type",
        "actor_id",
        "reason",
        "created_at",
    )
    readonly_fields = fields
    ordering = ("sequence",)


@admin.register(Payment)
class PaymentAdmin(ReadOnlyAdmin):
    list_display = ("id", "tenant", "amount", "method", "status", "held_at", "created_at")
    list_filter = ("status", "method", "returned", ("held_at", admin.EmptyFieldListFilter))
    list_select_related = ("tenant",)
    search_fields = (
        "id__exact",
        "tenant__id__exact",
        "recipient__id__exact",
        "trace_number__exact",
    )
    search_help_text = "The id of the payment, its tenant or its recipient, or the trace number"
    inlines = (HistoryInline,)
    actions = ("hold", "release")

    def has_hold_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("payments.change_payment"))

    @admin.action(description="Hold before it is sent", permissions=["hold"])
    def hold(self, request: HttpRequest, queryset: QuerySet[Payment]) -> None:
        for payment in queryset:
            try:
                holds.hold(
                    payment_id=payment.pk,
                    reason="held for a look by staff",
                    actor=actors.staff(str(request.user.pk)),
                    now=utc_now(),
                )
            except DomainError as refusal:
                self.message_user(request, refusal.detail, messages.ERROR)

    @admin.action(description="Release", permissions=["hold"])
    def release(self, request: HttpRequest, queryset: QuerySet[Payment]) -> None:
        for payment in queryset:
            holds.release(
                payment_id=payment.pk, actor=actors.staff(str(request.user.pk)), now=utc_now()
            )


@admin.register(Recipient)
class RecipientAdmin(AccountNumberAdmin):
    reveal_permission = "payments.reveal_recipient_number"
    list_display = ("id", "tenant", "account_holder_name", "bank_name", "last4", "is_saved")
    list_filter = ("is_saved", "account_holder_type")
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "tenant__id__exact")
