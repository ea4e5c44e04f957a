"""What people type about a day: reasons, days, and what a line in suspense was."""

from __future__ import annotations

from collections.abc import Iterable

from django import forms
from django.http import QueryDict
from unfold.widgets import UnfoldAdminTextInputWidget

from desk.forms import ReasonField
from desk.reconciliation.candidates import Candidate, Group
from reconciliation.notes import DAYS_MAX


class NoteForm(forms.Form):
    """Why a line of the books takes longer."""

    until = forms.DateField(
        label="Keeps no day open until",
        help_text=f"At most {DAYS_MAX} days. Then somebody looks at it again.",
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off", "type": "date"}),
    )
    reason = ReasonField()


class ClearForm(forms.Form):
    """What a line in suspense was: one of the candidates, which names what proves it."""

    reason = ReasonField()

    def __init__(self, groups: Iterable[Group], data: QueryDict | None = None) -> None:
        super().__init__(data)
        self._candidates = {each.value: each for group in groups for each in group.choices}
        self.fields["what"] = forms.ChoiceField(
            choices=[(value, each.words) for value, each in self._candidates.items()],
            error_messages={
                "required": "Choose what it was.",
                "invalid_choice": "That is not possible any more. Choose what it was.",
            },
        )

    @property
    def proposed(self) -> Candidate:
        """What was chosen, once the form is valid."""
        return self._candidates[self.cleaned_data["what"]]
