"""What people type about a day: reasons, days, and what a line in suspense was."""

from __future__ import annotations

from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from desk.forms import ReasonField
from reconciliation.models import BookedLine, ClearingKind
from reconciliation.notes import DAYS_MAX

_ID_LENGTH_MAX = 32
_NEEDED = {
    ClearingKind.OFFSET: ("other", "Enter the id of the other line in suspense."),
    ClearingKind.ADJUSTMENT: ("adjustment", "Enter the id of the adjustment."),
    ClearingKind.LEDGER: ("expected_line", "Enter the number of the line of the books."),
}


def _text(**attributes: str) -> forms.TextInput:
    widget: forms.TextInput = UnfoldAdminTextInputWidget(
        attrs={"autocomplete": "off", **attributes}
    )
    return widget


class NoteForm(forms.Form):
    """Why a line of the books takes longer."""

    until = forms.DateField(
        label="Keeps no day open until",
        help_text=f"At most {DAYS_MAX} days. Then somebody looks at it again.",
        widget=_text(type="date"),
    )
    reason = ReasonField()


class ClearForm(forms.Form):
    """What a line in suspense was. What proves it has to be named."""

    kind = forms.ChoiceField(
        choices=ClearingKind.choices, label="It was", widget=UnfoldAdminSelectWidget
    )
    other = forms.CharField(
        required=False,
        max_length=_ID_LENGTH_MAX,
        label="Other line of the bank",
        help_text="Where another line undoes this one: its id, bkl_…",
        widget=_text(),
    )
    adjustment = forms.CharField(
        required=False,
        max_length=_ID_LENGTH_MAX,
        label="Adjustment",
        help_text="Where a tenant got or paid it: the id of the adjustment, adj_…",
        widget=_text(),
    )
    expected_line = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=2**63 - 1,
        label="Line of the books",
        help_text="Where the books learned of the transfer later: its number, from “In transit”.",
        widget=_text(inputmode="numeric"),
    )
    reason = ReasonField()

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        kind = cleaned.get("kind")
        for needing, (name, advice) in _NEEDED.items():
            if kind == needing and not cleaned.get(name) and name not in self.errors:
                self.add_error(name, advice)
            if kind != needing:
                cleaned[name] = None if name == "expected_line" else ""
        if cleaned.get("other"):
            cleaned["other"] = self._other(cleaned["other"])
        return cleaned

    def _other(self, booked_id: str) -> BookedLine | None:
        row = BookedLine.objects.filter(pk=booked_id).first() if "\0" not in booked_id else None
        if row is None:
            self.add_error("other", "There is no such line in suspense.")
        return row
