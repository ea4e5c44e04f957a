"""The networks' messages in Django's admin. A message in `review` waits for a person, who settles
it here."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse

from common import staff_actions
from common.admin import WORK_PANEL, ReadOnlyAdmin, amount
from common.clock import utc_now
from common.money import format_cents
from networks.base import EventKind
from tenants import actors
from tenants.proposal_admin import DollarsField, ProposalAdmin
from transfers import handlers
from transfers.inbox import reviews, settlements
from transfers.inbox.models import BankOutcome, HandSettlement, InboundEvent, InboundOutcome

_SAYS = MappingProxyType[str, str](
    {
        EventKind.ACCEPTED: "Accepted: on its way, no money has moved",
        EventKind.SETTLED: "Settled: the money moved between the banks, and may still come back",
        EventKind.FINAL: "Final: the money has moved, and the ordinary time for returns is over",
        EventKind.REJECTED: "Rejected: no money ever moved",
        EventKind.RETURNED: "Returned by the bank",
        EventKind.CORRECTED: "Corrected: the account's details are not quite these",
        EventKind.RESCHEDULED: "Rescheduled: it leaves later than was said",
        EventKind.RETURN_DISHONORED: "Return dishonored: our bank does not accept the return",
        EventKind.RETURN_CONTESTED: "Return contested: the other bank stands by its return",
        EventKind.RECEIVED: "Received: a credit that nobody asked for",
    }
)


class Attention(admin.SimpleListFilter):
    """Filter: messages that a person has to look at, or may soon have to."""

    title = "attention"
    parameter_name = "attention"
    _RULES = {  # noqa: RUF012  # never changed
        "review": Q(outcome=InboundOutcome.REVIEW),
        "failing": Q(outcome=InboundOutcome.NEW, attempts__gt=0),
    }

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [("review", "To settle"), ("failing", "Failing, tried again")]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[InboundEvent]
    ) -> QuerySet[InboundEvent]:
        rule = self._RULES.get(self.value() or "")
        return queryset.filter(rule) if rule else queryset


@admin.register(InboundEvent)
class InboundEventAdmin(ReadOnlyAdmin):
    list_display = (
        "received_at",
        "outcome",
        "about",
        "says",
        "code",
        "dollars",
        "note",
    )
    list_filter = (Attention, "outcome")
    search_fields = ("event_id__exact", "instruction_id__exact")
    search_help_text = "The id at the network, or the id of the funding or payment"
    change_form_outer_after_template = WORK_PANEL
    actions = ("resolve_chosen", "retry_chosen")
    actions_detail = ("retry", "resolve")
    fieldsets = (
        ("What came", {"fields": ("network", "id_there", "about", "says", "dollars")}),
        ("In the network's words", {"fields": ("code", "reason", "reference", "original")}),
        ("What became of it", {"fields": ("outcome", "note", "failed_tries", "next_try")}),
        ("Who settled it", {"fields": ("resolution", "resolved_by", "resolved_at")}),
        ("When", {"fields": ("occurred_at", "received_at", "decided_at")}),
    )
    readonly_fields = ("dollars", "id_there", "about", "says", "failed_tries", "next_try")

    @amount
    @admin.display(description="amount", ordering="amount")
    def dollars(self, event: InboundEvent) -> str:
        if handlers.hides_amount(event.instruction_id):
            return "not shown"
        return f"{format_cents(event.amount)} {event.currency}"

    @admin.display(description="its id at the network")
    def id_there(self, event: InboundEvent) -> str:
        return event.event_id

    @admin.display(description="funding or payment")
    def about(self, event: InboundEvent) -> str:
        return event.instruction_id

    @admin.display(description="what it says")
    def says(self, event: InboundEvent) -> str:
        return _SAYS.get(event.says, event.kind)

    @admin.display(description="tries that failed")
    def failed_tries(self, event: InboundEvent) -> int:
        return event.attempts

    @admin.display(description="tried next")
    def next_try(self, event: InboundEvent) -> datetime | None:
        return event.next_attempt_at

    def has_settle_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return bool(request.user.has_perm("network_inbox.change_inboundevent"))

    def get_actions_detail(self, request: HttpRequest, object_id: str) -> Any:
        """Offer an action only for messages that are open."""
        event = self.get_object(request, object_id)
        if event is None or event.outcome not in (InboundOutcome.NEW, InboundOutcome.REVIEW):
            return []
        return super().get_actions_detail(request, object_id)

    @staff_actions.own_page_action("Try again", permission="settle")
    def retry(self, request: HttpRequest, object_id: str) -> HttpResponse:
        event = self._found(request, object_id)
        return staff_actions.ask_about_one(self, request, event, _retrying(request))

    @staff_actions.own_page_action("Resolve with a note", permission="settle")
    def resolve(self, request: HttpRequest, object_id: str) -> HttpResponse:
        event = self._found(request, object_id)
        return staff_actions.ask_about_one(self, request, event, _resolving(request))

    def _found(self, request: HttpRequest, object_id: str) -> InboundEvent:
        """The message. Raises Http404, also for what is no number."""
        event: InboundEvent | None = self.get_object(request, object_id)
        if event is None:
            raise Http404
        return event

    @admin.action(description="Try again", permissions=["settle"])
    def retry_chosen(
        self, request: HttpRequest, rows: QuerySet[InboundEvent]
    ) -> HttpResponse | None:
        return staff_actions.ask_about_chosen(self, request, list(rows), _retrying(request))

    @admin.action(description="Resolve with a note", permissions=["settle"])
    def resolve_chosen(
        self, request: HttpRequest, rows: QuerySet[InboundEvent]
    ) -> HttpResponse | None:
        return staff_actions.ask_about_chosen(self, request, list(rows), _resolving(request))


def _retrying(request: HttpRequest) -> staff_actions.StaffAction:
    return staff_actions.StaffAction(
        title="Try the message again",
        consequences="The next sweep applies it if it can; else it comes back here.",
        button="Try again",
        done="is tried again.",
        act=_by(request, reviews.retry),
    )


def _resolving(request: HttpRequest) -> staff_actions.StaffAction:
    return staff_actions.StaffAction(
        title="Resolve without applying",
        consequences="The message is kept and never applied. Say what you found and did: if money"
        " has to be corrected, propose an adjustment.",
        button="Resolve",
        done="is resolved.",
        act=_by(request, reviews.resolve),
    )


def _by(request: HttpRequest, settle: Callable[..., InboundEvent]) -> Callable[[Any, str], object]:
    actor = actors.staff(str(request.user.pk))
    return lambda event, note: settle(event_id=event.pk, note=note, actor=actor, now=utc_now())


if TYPE_CHECKING:
    SettlementForm = forms.ModelForm[HandSettlement]
else:
    SettlementForm = forms.ModelForm


class ProposeForm(SettlementForm):
    amount = DollarsField(label="Amount in dollars, from the bank's statement")

    class Meta:
        model = HandSettlement
        fields = ("subject_id", "kind", "amount", "bank_reference", "code", "reason")
        help_texts = {  # noqa: RUF012  # never changed
            "subject_id": "its id, ftx_… or pay_…; nothing moves before somebody else approves",
        }


@admin.register(HandSettlement)
class HandSettlementAdmin(ProposalAdmin):
    services: ClassVar = settlements
    propose_form = ProposeForm
    what = "settlement"
    terms = ProposeForm.Meta.fields
    outcome = "event"
    approved = ("Approve and apply", "is applied.")
    change_form_outer_after_template = WORK_PANEL

    list_display = (
        "tenant",
        "proposed_at",
        "kind",
        "dollars",
        "bank_reference",
        "proposed_by",
        "decision",
        "decided_by",
    )
    list_display_links = ("proposed_at",)
    list_filter = ("decision", "kind")
    search_fields = ("id__exact", "subject_id__exact", "tenant__id__exact")
    search_help_text = "The id of the settlement, of its funding or payment, or of its tenant"

    def proposed(self, chosen: dict[str, Any]) -> dict[str, Any]:
        return {**chosen, "kind": BankOutcome(chosen["kind"])}

    def outcome_words(self, proposal: HandSettlement) -> str:
        return (
            f"is applied: {proposal.subject_id} is {proposal.kind} with"
            f" {format_cents(proposal.amount)}."
        )

    def consequences(self, proposal: HandSettlement) -> str:
        return (
            f"Approved, {proposal.subject_id} is {proposal.kind} with"
            f" {format_cents(proposal.amount)}, bank reference {proposal.bank_reference}, as if its"
            " network had said so. Compare with the bank's statement first."
        )
