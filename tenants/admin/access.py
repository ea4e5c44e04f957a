"""Proposals of access in the admin: who proposes it, and who decides."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import Group
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
)

from common import days, lookalikes
from common.admin import whether
from common.forms import TextField
from tenants import actors
from tenants.access import AccessKind, AccessProposal
from tenants.models import Membership, Role, User
from tenants.proposal_admin import ProposalAdmin
from tenants.services import access, second_person

# By what is proposed: the title of the form, and what it leads to.
_FORMS: Mapping[AccessKind, tuple[str, str]] = MappingProxyType(
    {
        AccessKind.MEMBER: (
            "Propose a role in a tenant",
            "Somebody becomes a member of a tenant, or gets another role there. The tenant’s owners"
            " are told now and when it is done.",
        ),
        AccessKind.ADDRESS: (
            "Propose another address of a person",
            "A person signs in with another e-mail address. We tell the present address now, and"
            " both addresses when it is done.",
        ),
        AccessKind.POWER: (
            "Propose roles of staff",
            "Somebody is hired, or a colleague gets more roles. Everybody who looks after people is"
            " told now and when it is done.",
        ),
    }
)
# What a form asks for besides whom it is about and why.
_ASKED: Mapping[AccessKind, tuple[str, ...]] = MappingProxyType(
    {
        AccessKind.MEMBER: ("tenant", "role"),
        AccessKind.ADDRESS: ("new_email",),
        AccessKind.POWER: ("groups",),
    }
)

if TYPE_CHECKING:
    ProposalForm = forms.ModelForm[AccessProposal]
else:
    ProposalForm = forms.ModelForm


class AccessForm(ProposalForm):
    role = forms.ChoiceField(
        required=False,
        choices=[("", "–"), *Role.choices],
        widget=UnfoldAdminSelectWidget,
    )
    groups = forms.MultipleChoiceField(
        required=False,
        label="Roles of staff",
        choices=lambda: [(name, name) for name in _names()],
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
    )

    class Meta:
        model = AccessProposal
        fields = (
            "kind",
            "email",
            "tenant",
            "role",
            "new_email",
            "groups",
            "reason",
            "is_emergency",
        )
        field_classes: ClassVar = {"reason": TextField}
        labels: ClassVar = {"email": "E-mail address of the person"}
        help_texts: ClassVar = {
            "email": "With which they sign in today, or will.",
            "tenant": "Search by its name or id.",
            "new_email": "With which the person signs in from then on.",
            "reason": "Kept in the audit log for good.",
            "is_emergency": "It can be approved at once. An alarm names you both.",
        }


@admin.register(AccessProposal)
class AccessProposalAdmin(ProposalAdmin):
    """Staff give access by two. They never see a key and set no password (decision 0168)."""

    services: ClassVar = access
    propose_form = AccessForm
    what = "access"
    terms = AccessForm.Meta.fields
    outcome = "waits_until"
    approved = ("Approve", "is approved.")

    list_display = (
        "email",
        "kind",
        "tenant",
        "decision",
        "is_emergency",
        "proposed_by",
        "can_be_approved",
        "ends_at",
        "decided_by",
    )
    list_filter = ("decision", "kind", whether("decided_at", "decided"))
    search_fields = ("id__exact", "tenant__id__exact", "email__startswith")
    search_help_text = "The id of the proposal or its tenant, or how the address begins"
    autocomplete_fields = ("tenant",)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = super().get_fields(request, obj)
        if obj:
            return fields if obj.decision == "open" else (*fields, "ends_at")
        asked = _ASKED[kind] if (kind := _kind(request)) else ()
        return ("kind", "email", *asked, "reason", "is_emergency") if asked else fields

    def warning(self, proposal: AccessProposal) -> str:
        addresses = (proposal.email, proposal.new_email)
        return " ".join(
            filter(None, (super().warning(proposal), lookalikes.address_warning(*addresses)))
        )

    def obstacle(self, proposal: AccessProposal, person: User) -> str:
        if person.email in (proposal.email, proposal.new_email):
            return "It is about you, so somebody else decides."
        if why := super().obstacle(proposal, person):
            return why
        if not proposal.is_emergency:
            return ""
        return second_person.unrelated_obstacle(
            actor=actors.staff(person.pk), proposed_by=str(proposal.proposed_by_id)
        )

    def waits_until(self, proposal: AccessProposal) -> datetime | None:
        return None if proposal.is_emergency else proposal.waits_until

    @admin.display(description="can be approved from")
    def can_be_approved(self, proposal: AccessProposal) -> datetime | None:
        return self.waits_until(proposal)

    @admin.display(description="ends by itself")
    def ends_at(self, proposal: AccessProposal) -> datetime | None:
        return proposal.ends_at

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """One form for each kind of access; without a kind, the choice."""
        kind = _kind(request)
        if kind is None and self.has_add_permission(request):
            context = {
                **self.admin_site.each_context(request),
                "title": "Propose access",
                "kinds": [(kind, *_FORMS[kind]) for kind in AccessKind],
            }
            return TemplateResponse(request, "admin/access_kinds.html", context)
        title, lead = _FORMS[kind] if kind else ("", "")
        context = {"title": title, "lead": f"{lead} {_delay()}"}
        answer: HttpResponse = super().add_view(request, form_url, context)
        return answer

    def get_form(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, **kwargs)
        if obj is None and (kind := _kind(request)):
            form.base_fields["kind"].widget = forms.HiddenInput()
            form.base_fields["kind"].initial = kind
        return form

    def figure(self, proposal: Any) -> str:
        return ""

    def outcome_words(self, proposal: AccessProposal) -> str:
        is_member = Membership.objects.filter(
            tenant=proposal.tenant, user__email=proposal.email
        ).exists()
        joins = "is now" if is_member else "is invited by e-mail as"
        done = {
            "member": (
                f"{proposal.email} {joins} {proposal.role} of {proposal.tenant}. Its owners are"
                " told."
            ),
            "address": (
                f"the person signs in as {proposal.new_email} now, and every session has ended."
                " Both addresses are told."
            ),
            "power": (
                f"{proposal.email} works here as {', '.join(proposal.groups)}. Everybody who looks"
                " after people is told."
            ),
        }[proposal.kind]
        return f"is approved: {done}"

    def consequences(self, proposal: AccessProposal) -> str:
        done = {
            "member": (
                f"Once approved, {proposal.email} is invited into {proposal.tenant} as"
                f" {proposal.role}, or gets this role there. Its owners are told."
            ),
            "address": (
                f"Once approved, the person signs in as {proposal.new_email}, and no longer as"
                f" {proposal.email}. Both addresses are told, and every session ends."
            ),
            "power": (
                f"Once approved, {proposal.email} works here as {', '.join(proposal.groups)}, but"
                " approves nothing that was proposed before."
            ),
        }[proposal.kind]
        until = days.words(proposal.ends_at)
        if proposal.is_emergency:
            both = f"you and {proposal.proposed_by}"
            return (
                f"{done} This is an emergency: it needs no delay, and an alarm names {both}. It can"
                f" be approved until {until}."
            )
        waits = days.words(proposal.waits_until)
        return f"{done} It can be approved from {waits}, and until {until}."


def _kind(request: HttpRequest) -> AccessKind | None:
    """What the form is about that is asked for, or was sent."""
    sent = request.POST if request.method == "POST" else request.GET
    kind = sent.get("kind", "")
    return AccessKind(kind) if kind in AccessKind.values else None


def _delay() -> str:
    hours, left = settings.STAFF_ACCESS_DELAY_HOURS, settings.STAFF_ACCESS_OPEN_DAYS
    return (
        f"Somebody else of staff approves it {hours} hours from now at the earliest, and within"
        f" {left} days of that."
    )


def _names() -> list[str]:
    return list(Group.objects.order_by("name").values_list("name", flat=True))
