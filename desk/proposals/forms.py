"""What people type when they decide about a proposal."""

from __future__ import annotations

from django import forms

from desk.forms import ReasonField


class RejectionForm(forms.Form):
    """Why something is rejected that is gone for good then."""

    reason = ReasonField(label="Reason, if you reject it")
