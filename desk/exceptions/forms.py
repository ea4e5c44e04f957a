"""What people type about exceptions."""

from __future__ import annotations

from django import forms
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from desk.entries import page as entries
from desk.exceptions import codes
from desk.forms import ReasonField, ReasonForm
from networks.ach.models import AchEntry


def _choices(known: dict[str, str]) -> list[tuple[str, str]]:
    return [("", "Choose"), *((code, f"{code} {words}") for code, words in known.items())]


class MatchForm(forms.Form):
    """The entry that a return is about."""

    entry = forms.CharField(
        max_length=80,
        label="Entry",
        help_text="Its trace number, its reference (ACH…), or the id of its funding or payment.",
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
    )
    reason = ReasonField()

    def clean_entry(self) -> AchEntry:
        instruction_id = entries.found(self.cleaned_data["entry"])
        if instruction_id is None:
            raise forms.ValidationError("Nothing is called that.")
        return entries.live(instruction_id)


class DishonorForm(forms.Form):
    """Why our bank refuses a return."""

    code = forms.ChoiceField(
        choices=_choices(codes.DISHONORED), label="Why", widget=UnfoldAdminSelectWidget
    )
    information = forms.CharField(
        required=False,
        max_length=21,
        label="For R69: the wrong fields",
        help_text="Their numbers, 01 to 07, as 01*03.",
        widget=UnfoldAdminTextInputWidget,
    )
    reason = ReasonField()


class RefuseForm(forms.Form):
    """Why our bank refuses a notification of change."""

    code = forms.ChoiceField(
        choices=_choices(codes.REFUSED), label="Why", widget=UnfoldAdminSelectWidget
    )
    reason = ReasonField()


class ReadAgainForm(ReasonForm):
    """Whether the faults for which a file was set aside are let pass."""

    excuse = forms.BooleanField(
        required=False,
        label="Let its faults pass",
        help_text="Only if the bank says that the file is right as it is.",
        widget=UnfoldBooleanSwitchWidget,
    )
    field_order = ("excuse", "reason")
