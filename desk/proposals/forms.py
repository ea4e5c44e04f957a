"""What people type when they decide about a proposal."""

from __future__ import annotations

from django import forms

from desk.forms import ReasonField


class RejectionForm(forms.Form):
    """Why something is rejected that is gone for good then. Whoever approves it leaves it empty."""

    reason = ReasonField(label="Reason, if you reject it", required=False)

    def clean_reason(self) -> str:
        reason: str = self.cleaned_data["reason"]
        if not reason:
            raise forms.ValidationError("Say why you reject it.")
        return reason
