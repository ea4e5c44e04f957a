"""What people type to have money moved to an instant network, or from it."""

from __future__ import annotations

from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminSelectWidget

from desk.forms import DollarsField, ReasonField
from networks.instant.models import InstantRail
from networks.rails.models import Rail, RailKind
from transfers.positions import Move

TO, FROM = "to", "from"
_OUTSIDE = "An account that is not in the books"


def _rails() -> list[tuple[str, str]]:
    return [
        (name, name) for name in InstantRail.objects.order_by("pk").values_list("pk", flat=True)
    ]


def _banks() -> list[tuple[str, str]]:
    """Other rails that move money: ours lies at a bank behind each."""
    others = Rail.objects.filter(kind=RailKind.REAL).order_by("pk")
    return [("", _OUTSIDE), *((name, name) for name in others.values_list("pk", flat=True))]


class MoveForm(forms.Form):
    """The rail, which way, how much, and where the money lies otherwise."""

    rail = forms.ChoiceField(choices=_rails, label="Instant rail", widget=UnfoldAdminSelectWidget)
    way = forms.ChoiceField(
        choices=((TO, "To the network"), (FROM, "From the network")),
        label="Which way",
        widget=UnfoldAdminSelectWidget,
    )
    amount = DollarsField(label="Amount")
    bank = forms.ChoiceField(
        choices=_banks,
        required=False,
        label="From or to",
        help_text="The rail at whose bank the money lies otherwise.",
        widget=UnfoldAdminSelectWidget,
    )
    reason = ReasonField()

    def clean_amount(self) -> Any:
        if not (cents := self.cleaned_data["amount"]):
            raise forms.ValidationError("An amount like 2,500.00.")
        return cents

    @property
    def move(self) -> Move:
        """Of a valid form."""
        cents = self.cleaned_data["amount"]
        return Move(
            rail=self.cleaned_data["rail"],
            cents=cents if self.cleaned_data["way"] == TO else -cents,
            bank=self.cleaned_data["bank"],
        )
