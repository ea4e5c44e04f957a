"""What people type about items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminTextareaWidget

from common import ids
from common.forms import LinesField
from dashboard.shell.form_tokens import OnceForm
from desk.items import people
from desk.items.assigning import NOBODY
from desk.items.subjects import Subject
from desk.models import NOTE_LENGTH_MAX

ME = "me"
EMAIL_LENGTH_MAX = 254
NO_TENANT = ""  # staff work on items of all tenants


class NoteForm(OnceForm):
    """A note on one item, in plain text. A double click stores one."""

    purpose = "note"

    text = LinesField(
        max_length=NOTE_LENGTH_MAX,
        label="Note",
        help_text="Plain text. Staff read it, tenants never do. It cannot be changed later.",
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
    )

    def __init__(self, data: Mapping[str, Any] | None = None, *, subject: Subject) -> None:
        super().__init__(
            data,
            tenant_id=NO_TENANT,
            what=ids.new("nte"),
            about=f"{subject.kind}:{subject.id}",
        )

    def ask_again(self) -> None:
        """Show what was typed once more: another note was stored by this form before."""
        self.renew()
        self.add_error(None, "This form stored another note before. Send it again to keep both.")


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
