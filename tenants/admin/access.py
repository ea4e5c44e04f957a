"""Proposals of access in the admin: who proposes it, and who decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin
from django.contrib.auth.models import Group
from django.http import HttpRequest
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
)

from common import lookalikes
from common.admin import whether
from common.forms import TextField
from tenants.access import AccessProposal
from tenants.models import Role
from tenants.proposal_admin import ProposalAdmin
from tenants.services import access

if TYPE_CHECKING:
    ProposalForm = forms.ModelForm[AccessProposal]
else:
    ProposalForm = forms.ModelForm


class AccessForm(ProposalForm):
    role = forms.ChoiceField(
        required=False,
        choices=[("", "–"), *Role.choices],
        widget=UnfoldAdminSelectWidget,
        help_text="For a role in a tenant.",
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
        help_texts: ClassVar = {
            "email": "Of whom it is about: for another address, the one of today.",
            "tenant": "For a role in a tenant. Its owners are told.",
            "new_email": "For another address. The person is told.",
            "reason": "Kept in the audit log for good.",
            "is_emergency": "Needs no delay. Both of you are named in an alarm.",
        }


@admin.register(AccessProposal)
class AccessProposalAdmin(ProposalAdmin):
    """Staff give access by two. They never see a key and set no password (decision 0168)."""

    services: ClassVar = access
    propose_form = AccessForm
    what = "access"
    terms = AccessForm.Meta.fields
    outcome = "waits_until"
    approved = ("Approve", "is approved, and done.")

    list_display = (
        "id",
        "kind",
        "email",
        "tenant",
        "is_emergency",
        "proposed_by",
        "waits_until",
        "ends_at",
        "decision",
        "decided_by",
    )
    list_filter = ("decision", "kind", whether("decided_at", "decided"))
    search_fields = ("id__exact", "tenant__id__exact", "email__startswith")
    search_help_text = "The id of the proposal or its tenant, or how the address begins"
    autocomplete_fields = ("tenant",)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = super().get_fields(request, obj)
        return (*fields, "ends_at") if obj else fields

    def figure(self, proposal: Any) -> str:
        return ""

    def consequences(self, proposal: AccessProposal) -> str:
        done = {
            "member": (
                f"Approved, {proposal.email} is invited into {proposal.tenant} as {proposal.role},"
                " or gets this role there. Its owners are told."
            ),
            "address": (
                f"Approved, the person signs in as {proposal.new_email} and no more as"
                f" {proposal.email}. Both addresses are told, and every session ends."
            ),
            "power": (
                f"Approved, {proposal.email} works here as {', '.join(proposal.groups)}, but"
                " approves nothing that was proposed before."
            ),
        }[proposal.kind]
        if warning := lookalikes.address_warning(proposal.email, proposal.new_email):
            done = f"{warning} {done}"
        until = f"{proposal.ends_at:%Y-%m-%d %H:%M} UTC"
        if proposal.is_emergency:
            both = f"you and {proposal.proposed_by} are named in an alarm"
            return f"{done} An emergency: {both}. Until {until}."
        return f"{done} Not before {proposal.waits_until:%Y-%m-%d %H:%M} UTC, and until {until}."


def _names() -> list[str]:
    return list(Group.objects.order_by("name").values_list("name", flat=True))
