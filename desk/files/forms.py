"""What people type about files."""

from __future__ import annotations

from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminTextInputWidget

from common.money import parse_dollars


class TotalForm(forms.Form):
    """What debits and credits of a file come to, as the second person knows it."""

    total = forms.CharField(
        max_length=24,
        label="Total of debits and credits",
        help_text="Type what you expect to leave, as 12,345.67. It is not filled in for you.",
        widget=UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal", "autocomplete": "off"}),
    )

    def clean_total(self) -> Any:
        cents = parse_dollars(self.cleaned_data["total"])
        if cents is None:
            raise forms.ValidationError("An amount like 12,345.67.")
        return cents
