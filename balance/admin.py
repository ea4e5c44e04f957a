"""Staff look at money here; they change it only through services."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.html import format_html_join
from django.utils.safestring import mark_safe
from unfold.widgets import UnfoldAdminTextInputWidget

from balance import proposals
from balance import selectors as balances
from balance.models import (
    Adjustment,
    AdjustmentProposal,
    Balance,
    BalanceTransaction,
    LedgerCheck,
    LedgerCheckpoint,
)
from common import reasons
from common.admin import ReadOnlyAdmin, ServiceAdmin, dollars
from common.audits import Finding
from common.clock import utc_now
from common.money import format_cents, parse_dollars
from tenants import actors


class BelowZero(admin.SimpleListFilter):
    """Who owes us."""

    title = "below zero"
    parameter_name = "below_zero"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [("yes", "Yes")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Balance]) -> QuerySet[Balance]:
        return queryset.filter(available__lt=0) if self.value() == "yes" else queryset


@admin.register(Balance)
class BalanceAdmin(ReadOnlyAdmin):
    list_display = (
        "tenant",
        "currency",
        dollars("available"),
        dollars("pending"),
        dollars("locked"),
        "posted_at",
    )
    list_filter = (BelowZero,)
    list_select_related = ("tenant",)
    search_fields = ("tenant__id__exact",)
    search_help_text = "The id of the tenant"


@admin.register(BalanceTransaction)
class BalanceTransactionAdmin(ReadOnlyAdmin):
    list_display = (
        "id",
        "tenant",
        "sequence",
        "type",
        dollars("amount"),
        dollars("available_after"),
        dollars("locked_after"),
        "source_id",
        "created_at",
    )
    list_filter = ("type",)
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "tenant__id__exact", "source_id__exact")
    search_help_text = "The id of the line, its tenant, or its funding, payment or adjustment"


@admin.register(Adjustment)
class AdjustmentAdmin(ReadOnlyAdmin):
    list_display = ("id", "tenant", "type", dollars("amount"), "reason", "actor_type", "created_at")
    list_filter = ("type", "actor_type")
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "tenant__id__exact")
    search_help_text = "The id of the adjustment or its tenant"


if TYPE_CHECKING:
    ProposalForm = forms.ModelForm[AdjustmentProposal]
else:
    ProposalForm = forms.ModelForm


class ProposeForm(ProposalForm):
    amount = forms.CharField(
        label="Amount in dollars", max_length=30, widget=UnfoldAdminTextInputWidget
    )

    class Meta:
        model = AdjustmentProposal
        fields = ("tenant", "type", "amount", "reason", "expires_at")

    def clean_amount(self) -> int:
        """Cents."""
        cents = parse_dollars(self.cleaned_data["amount"])
        if not cents:
            raise forms.ValidationError("An amount such as 1,234.56.")
        return cents


@admin.register(AdjustmentProposal)
class ProposalAdmin(ServiceAdmin):
    """One member of staff proposes, another one decides."""

    list_display = (
        "id",
        "tenant",
        "type",
        "dollars",
        "reason",
        "proposed_by",
        "proposed_at",
        "decision",
        "decided_by",
    )
    list_filter = ("decision", "type")
    list_select_related = ("tenant", "proposed_by", "decided_by")
    search_fields = ("id__exact", "tenant__id__exact")
    search_help_text = "The id of the proposal or its tenant"
    autocomplete_fields = ("tenant",)
    actions_detail = ("approve", "reject")

    @admin.display(description="amount", ordering="amount")
    def dollars(self, proposal: AdjustmentProposal) -> str:
        return format_cents(proposal.amount)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("balance.propose_adjustment"))

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_approve_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return bool(request.user.has_perm("balance.approve_adjustment"))

    def get_form(
        self, request: HttpRequest, obj: AdjustmentProposal | None = None, **kwargs: Any
    ) -> Any:
        form = {} if obj else {"form": ProposeForm}
        return super().get_form(request, obj, **{**form, **kwargs})

    def get_fields(self, request: HttpRequest, obj: AdjustmentProposal | None = None) -> Any:
        asked = ("tenant", "type", "dollars" if obj else "amount", "reason")
        if obj is None:
            return (*asked, "expires_at")
        decided = ("decision", "decided_by", "decided_at", "decision_note", "adjustment")
        return (*asked, "proposed_by", "proposed_at", "expires_at", *decided)

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> Any:
        return ("dollars",) if obj else ()

    def get_actions_detail(self, request: HttpRequest, object_id: str) -> Any:
        """Only what is open, and never one's own, is there to be decided."""
        open_ones = AdjustmentProposal.objects.filter(pk=object_id, decision="open")
        if not open_ones.exclude(proposed_by=str(request.user.pk)).exists():
            return []
        return super().get_actions_detail(request, object_id)

    def save_model(
        self, request: HttpRequest, obj: AdjustmentProposal, form: Any, change: bool
    ) -> None:
        chosen = form.cleaned_data
        proposed = proposals.propose(
            tenant_id=chosen["tenant"].pk,
            type=chosen["type"],
            amount=chosen["amount"],
            reason=chosen["reason"],
            expires_at=chosen["expires_at"],
            actor=actors.staff(str(request.user.pk)),
            now=utc_now(),
        )
        obj.pk = proposed.pk

    @reasons.own_page_action("Approve", permission="approve")
    def approve(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self._ask(request, object_id, "Approve and post", "is posted.", proposals.approve)

    @reasons.own_page_action("Reject", permission="approve")
    def reject(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self._ask(request, object_id, "Reject", "is rejected.", proposals.reject)

    def _ask(
        self,
        request: HttpRequest,
        object_id: str,
        title: str,
        done: str,
        decide: Callable[..., object],
    ) -> HttpResponse:
        proposal = get_object_or_404(
            AdjustmentProposal.objects.select_related("tenant"), pk=object_id
        )

        def carry_out(row: AdjustmentProposal, note: str) -> object:
            actor = actors.staff(str(request.user.pk))
            return decide(proposal_id=row.pk, note=note, actor=actor, now=utc_now())

        question = reasons.Question(
            title=title,
            consequences=_consequences(proposal),
            button=f"{title}: {format_cents(proposal.amount)}",
            done=done,
            act=carry_out,
        )
        return reasons.ask_about_one(self, request, proposal, question)


def _consequences(proposal: AdjustmentProposal) -> str:
    now = balances.summary(proposal.tenant_id).available
    after = now + proposal.amount * (1 if proposal.type == "credit" else -1)
    return (
        f"Approved, it is a {proposal.type} of {format_cents(proposal.amount)}: available goes from"
        f" {format_cents(now)} to {format_cents(after)}, and {proposal.tenant} reads"
        f" “{proposal.reason}” on its statement. Your own note stays with staff."
    )


@admin.register(LedgerCheck)
class LedgerCheckAdmin(ReadOnlyAdmin):
    list_display = ("id", "started_at", "took", "ok", "found", "is_full", "tenant")
    list_filter = ("ok", "is_full")
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "tenant__id__exact")
    search_help_text = "The id of the check or its tenant"
    fields = ("id", "started_at", "finished_at", "took", "is_full", "tenant", "ok", "what")
    readonly_fields = ("took", "what")

    @admin.display(description="took")
    def took(self, row: LedgerCheck) -> str:
        seconds = (row.finished_at - row.started_at).total_seconds() if row.finished_at else None
        return "–" if seconds is None else f"{seconds:.2f} s"

    @admin.display(description="findings")
    def found(self, row: LedgerCheck) -> int:
        return len(row.findings)

    @admin.display(description="findings")
    def what(self, row: LedgerCheck) -> str:
        """One line per finding, worded as `manage.py check_ledger` does."""
        lines = ((str(Finding(**finding)),) for finding in row.findings)
        return format_html_join(mark_safe("<br>"), "{}", lines) or "None"


@admin.register(LedgerCheckpoint)
class LedgerCheckpointAdmin(ReadOnlyAdmin):
    list_display = ("tenant", "sequence", dollars("available"), dollars("locked"), "proven_at")
    list_select_related = ("tenant",)
    search_fields = ("tenant__id__exact",)
    search_help_text = "The id of the tenant"
    ordering = ("tenant",)
