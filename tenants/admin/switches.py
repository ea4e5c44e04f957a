"""Operator switches in the admin: engage, look back, release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.text import capfirst
from unfold.widgets import UnfoldAdminSelectWidget

from common import staff_actions
from common.admin import ServiceAdmin, whether
from common.clock import utc_now
from common.forms import LinesField
from tenants import actors
from tenants.models import Switch, User
from tenants.services import switches
from tenants.switches import SwitchKind, known_networks

# The board's name of each switch, and what is so while it is not engaged.
_BOARD: Mapping[SwitchKind, tuple[str, str]] = MappingProxyType(
    {
        SwitchKind.FUNDING: ("Funding", "Debits and requests for payment go to the networks."),
        SwitchKind.PAYMENTS: ("Payments", "Payments go to the networks."),
        SwitchKind.WEBHOOKS: ("Webhooks", "Events are sent to tenants’ endpoints."),
        SwitchKind.READ_ONLY: ("Changes", "The API and the dashboard take changes."),
    }
)

_CHOSEN = ("kind", "network", "tenant", "reason")

if TYPE_CHECKING:
    SwitchForm = forms.ModelForm[Switch]
else:
    SwitchForm = forms.ModelForm


class EngageForm(SwitchForm):
    """Stops everything, unless a network or a tenant is named."""

    network = forms.ChoiceField(
        required=False,
        choices=lambda: [("", "All networks"), *((name, name) for name in known_networks())],
        widget=UnfoldAdminSelectWidget,
        help_text="For funding and payments.",
    )

    class Meta:
        model = Switch
        fields = _CHOSEN
        field_classes: ClassVar = {"reason": LinesField}
        help_texts = {"tenant": "Empty: all tenants."}  # noqa: RUF012  # Django's own interface


def _who(person: User | None) -> str:
    """A switch that nobody turned was turned at a command line."""
    return person.email if person else "Command line"


@dataclass(frozen=True)
class BoardLine:
    """One switch on the board, with what it stops now, the latest first."""

    kind: SwitchKind
    name: str
    runs: str
    engaged: list[Switch]

    @property
    def stops(self) -> str:
        """How much is stopped: `all`, `part` of it (some networks or tenants), or nothing."""
        if any(not row.network and row.tenant_id is None for row in self.engaged):
            return "all"
        return "part" if self.engaged else ""


def board() -> list[BoardLine]:
    """Every switch that there is. One query."""
    engaged = list(switches.engaged_now())
    return [
        BoardLine(kind, name, runs, [row for row in engaged if row.kind == kind])
        for kind, (name, runs) in _BOARD.items()
    ]


@admin.register(Switch)
class SwitchAdmin(ServiceAdmin):
    list_display = (
        "kind",
        "covers",
        "reason",
        "engaged_by",
        "engaged_at",
        "released_by",
        "released_at",
    )
    list_filter = (whether("released_at", "released"), "kind", "network")
    list_select_related = ("tenant", "engaged_by", "released_by")
    search_fields = ("id__exact", "tenant__id__exact")
    search_help_text = "The id of the switch or its tenant"
    autocomplete_fields = ("tenant",)
    actions_detail = ("release",)
    list_before_template = "admin/switch_board.html"

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:
        """Show the board above the history."""
        shown = {
            "board": board(),
            "may_engage": self.has_add_permission(request),
            "may_release": self.has_release_permission(request),
        }
        return super().changelist_view(request, shown | (extra_context or {}))

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def get_form(self, request: HttpRequest, obj: Switch | None = None, **kwargs: Any) -> Any:
        form = {} if obj else {"form": EngageForm}
        return super().get_form(request, obj, **{**form, **kwargs})

    def get_fields(self, request: HttpRequest, obj: Switch | None = None) -> Any:
        if obj is None:
            return _CHOSEN
        engaged = ("kind", "reach", "reason", "engager", "engaged_at")
        released = ("releaser", "released_at", "release_reason") if obj.released_at else ()
        return (*engaged, *released)

    def get_readonly_fields(self, request: HttpRequest, obj: Switch | None = None) -> Any:
        return ("reach", "engager", "releaser") if obj else ()

    @admin.display(description="stops")
    def reach(self, switch: Switch) -> str:
        return capfirst(switch.covers)

    @admin.display(description="engaged by")
    def engager(self, switch: Switch) -> str:
        return _who(switch.engaged_by)

    @admin.display(description="released by")
    def releaser(self, switch: Switch) -> str:
        return _who(switch.released_by)

    def save_model(self, request: HttpRequest, obj: Switch, form: Any, change: bool) -> None:
        chosen = form.cleaned_data
        engaged = switches.engage(
            kind=SwitchKind(chosen["kind"]),
            network=chosen["network"],
            tenant_id=chosen["tenant"].pk if chosen["tenant"] else None,
            reason=chosen["reason"],
            actor=actors.staff(str(request.user.pk)),
            now=utc_now(),
        )
        obj.pk = engaged.pk

    def has_release_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return request.user.has_perm("tenants.change_switch")

    @staff_actions.own_page_action("Release", permission="release")
    def release(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return staff_actions.ask_about_one(
            self,
            request,
            get_object_or_404(Switch, pk=object_id),
            staff_actions.StaffAction(
                title="Release the switch",
                consequences="What waited goes on within seconds.",
                button="Release",
                done="is released.",
                act=lambda switch, reason: switches.release(
                    switch_id=switch.pk,
                    reason=reason,
                    actor=actors.staff(str(request.user.pk)),
                    now=utc_now(),
                ),
            ),
        )
