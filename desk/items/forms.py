"""What people type about items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminTextareaWidget

from common.forms import LinesField
from desk.items import people
from desk.items.assigning import NOBODY
from desk.models import NOTE_LENGTH_MAX

ME = "me"
EMAIL_LENGTH_MAX = 254


class NoteForm(forms.Form):
    """A note, in plain text."""

    text = LinesField(
        max_length=NOTE_LENGTH_MAX,
        label="Note",
        help_text="Plain text. Staff read it, tenants never do. It cannot be changed later.",
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
    )


class AssignForm(forms.Form):
    """Whom an item is given: an address, `ME`, or nobody where it is released. `seen` is the number
    of the assignment that the page showed. Cleaned, `to` is an id."""

    to = forms.CharField(required=False, max_length=EMAIL_LENGTH_MAX)
    seen = forms.IntegerField(min_value=0, max_value=2**31 - 2)

    def __init__(self, data: Mapping[str, Any], *, me: str) -> None:
        super().__init__(data)
        self._ids = {"": NOBODY, ME: me}

    def clean_to(self) -> str:
        to: str = self.cleaned_data["to"]
        if to in self._ids:
            return self._ids[to]
        found = next((pk for pk, email in people.able().items() if email == to), None)
        if found is None:
            raise forms.ValidationError("Nobody who works on items has this address.")
        return found
