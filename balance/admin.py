"""Staff look at money here; they change it only through services."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import mark_safe

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
from common.admin import ReadOnlyAdmin, amount, dollars
from common.audits import Finding
from common.forms import TextField
from common.money import format_cents, signed_cents
from tenants.proposal_admin import DollarsField, ProposalAdmin


class BelowZero(admin.SimpleListFilter):
    """Filter: tenants whose available balance is below zero."""

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
        "tenant",
        "created_at",
        "type",
        "signed",
        dollars("available_after"),
        dollars("locked_after"),
        "source_id",
    )
    list_display_links = ("created_at",)
    list_filter = ("type",)
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "tenant__id__exact", "source_id__exact")
    search_help_text = "The id of the line, its tenant, or its funding, payment or adjustment"

    @amount
    @admin.display(description="available")
    def signed(self, line: BalanceTransaction) -> str:
        """What the line did to it; a settlement did nothing."""
        return signed_cents(line.available_delta)


@admin.register(Adjustment)
class AdjustmentAdmin(ReadOnlyAdmin):
    list_display = ("tenant", "created_at", "type", dollars("amount"), "reason", "actor_type")
    list_display_links = ("created_at",)
    list_filter = ("type", "actor_type")
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "tenant__id__exact")
    search_help_text = "The id of the adjustment or its tenant"


if TYPE_CHECKING:
    ProposalForm = forms.ModelForm[AdjustmentProposal]
else:
    ProposalForm = forms.ModelForm


class ProposeForm(ProposalForm):
    amount = DollarsField(label="Amount in dollars")

    class Meta:
        model = AdjustmentProposal
        fields = ("tenant", "type", "amount", "reason", "expires_at")
        field_classes: ClassVar = {"reason": TextField}


@admin.register(AdjustmentProposal)
class AdjustmentProposalAdmin(ProposalAdmin):
    services: ClassVar = proposals
    propose_form = ProposeForm
    what = "adjustment"
    terms = ProposeForm.Meta.fields
    outcome = "adjustment"
    approved = ("Approve and post", "is posted.")

    list_display = (
        "tenant",
        "proposed_at",
        "type",
        "dollars",
        "reason",
        "proposed_by",
        "decision",
        "decided_by",
    )
    list_display_links = ("proposed_at",)
    list_filter = ("decision", "type")
    search_fields = ("id__exact", "tenant__id__exact")
    search_help_text = "The id of the proposal or its tenant"
    autocomplete_fields = ("tenant",)

    def proposed(self, chosen: dict[str, Any]) -> dict[str, Any]:
        terms = dict(chosen)
        return {"tenant_id": terms.pop("tenant").pk, **terms}

    def outcome_words(self, proposal: AdjustmentProposal) -> str:
        what = f"a {proposal.type} of {format_cents(proposal.amount)}"
        return f"is posted: {what} is on the statement of {proposal.tenant}."

    def consequences(self, proposal: AdjustmentProposal) -> str:
        now = balances.summary(proposal.tenant_id).available
        after = now + proposal.amount * (1 if proposal.type == "credit" else -1)
        return (
            f"Approved, it is a {proposal.type} of {format_cents(proposal.amount)}: available goes"
            f" from {format_cents(now)} to {format_cents(after)}, and {proposal.tenant} reads"
            f" “{proposal.reason}” on its statement. Your own note stays with staff."
        )


@admin.register(LedgerCheck)
class LedgerCheckAdmin(ReadOnlyAdmin):
    list_display = ("started_at", "took", "ok", "found", "is_full", "tenant")
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
        """One line per finding, in the words of `manage.py check_ledger`."""
        lines = ((str(Finding(**finding)),) for finding in row.findings)
        return format_html_join(mark_safe("<br>"), "{}", lines) or "None"


@admin.register(LedgerCheckpoint)
class LedgerCheckpointAdmin(ReadOnlyAdmin):
    list_display = ("tenant", "sequence", dollars("available"), dollars("locked"), "proven_at")
    list_select_related = ("tenant",)
    search_fields = ("tenant__id__exact",)
    search_help_text = "The id of the tenant"
    ordering = ("tenant",)
