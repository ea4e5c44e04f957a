"""The form that approves: it asks for the amount."""

from __future__ import annotations

from django import forms

from common.forms import LinesField


class ApproveForm(forms.Form):
    """The approver repeats the amount: nobody approves by a slip of the finger."""

    typed_amount = forms.CharField(
        label="Type the amount to approve it",
        max_length=24,
        widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
        error_messages={"required": "Type the amount shown above."},
    )


class DeclineForm(forms.Form):
    reason = LinesField(
        label="Why do you decline?",
        max_length=200,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="The people on this team can read it.",
        error_messages={"required": "Say why in a few words."},
    )
