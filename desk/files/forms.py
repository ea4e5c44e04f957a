"""What people type about files."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from common.forms import TextField
from common.money import parse_dollars
from desk.forms import ReasonField
from networks.ach.acknowledgments import Verdict
from networks.ach.models.spoken import CODE_LENGTH_MAX, SAID_BY_LENGTH_MAX, SpokenVerdict
from networks.ach.spoken import Said

_NUMBERS = re.compile(r"[0-9]{1,7}(?:[ ,]+[0-9]{1,7}){0,999}[ ,]*", re.ASCII)


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


class SpokenForm(forms.Form):
    """What the bank says of a file by telephone, and who there."""

    verdict = forms.ChoiceField(
        choices=[("", "Choose"), *SpokenVerdict.choices],
        label="What the bank says",
        widget=UnfoldAdminSelectWidget,
    )
    code = forms.RegexField(
        regex=rf"\A[A-Za-z0-9_]{{1,{CODE_LENGTH_MAX}}}\Z",
        required=False,
        max_length=CODE_LENGTH_MAX,
        label="Code, if it refused something",
        help_text="As the bank names it: R13, batch_hash. Letters, digits and _.",
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
    )
    batches = forms.CharField(
        required=False,
        max_length=8_000,
        label="Batches that it refused",
        help_text="Their numbers, as 2, 5. Empty if it took all, or nothing.",
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
    )
    said_by = TextField(
        max_length=SAID_BY_LENGTH_MAX,
        label="Who says so at the bank",
        help_text="Name and telephone number. Call a number that you know, not one of an e-mail.",
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
    )
    reason = ReasonField(label="Why it is asked by telephone")

    def clean_batches(self) -> list[int]:
        text = self.cleaned_data["batches"].strip()
        if text and not _NUMBERS.fullmatch(text):
            raise forms.ValidationError("Numbers of batches, as 2, 5.")
        return [int(each) for each in re.findall("[0-9]+", text)]

    @property
    def said(self) -> Said:
        """What a valid form says."""
        data = self.cleaned_data
        return Said(
            verdict=Verdict(data["verdict"]),
            said_by=data["said_by"],
            code=data["code"],
            batches=data["batches"],
        )
