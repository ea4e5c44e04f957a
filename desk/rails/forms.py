"""What people type about a rail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from common.errors import NotFound
from common.forms import TextField
from desk.forms import DollarsField, ReasonField
from desk.rails.terms import WORDING
from desk.rails.wording import Wording
from networks.ach.changing import OFFSET_ACCOUNT_LENGTH_MAX
from networks.ach.models.rails import RailPart
from networks.ach.originating import Company
from networks.ach.terms import InvalidTerms, RailTerms
from networks.instant.terms import InvalidTerms as InvalidInstantTerms
from tenants import selectors


class WordedForm(forms.Form):
    """All terms of a rail, by section. `base` is the JSON of those that the form begins with.

    A subclass says the words, what reads the JSON, and the field of our own account, which is no
    term.
    """

    wording: Wording
    account: tuple[str, str, int]  # its field, in the section of this title, at this place
    account_length_max: int
    account_help: str

    def __init__(self, data: Mapping[str, Any] | None, *, base: Mapping[str, Any]) -> None:
        super().__init__(data, initial=self.wording.flat(base) if base else None)
        self._base = base
        for term in self.wording.terms:
            self.fields[term.name] = term.kind.field(label=term.label, help_text=term.help)
        self.fields[self.account[0]] = forms.CharField(
            required=False,
            max_length=self.account_length_max,
            label="Number of our account",
            help_text=self.account_help,
            widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        )
        self.fields["reason"] = ReasonField(label="Reason")

    def parse(self, stored: dict[str, Any]) -> None:
        """Keep the terms that were typed. Raises InvalidTerms of their kind of rails."""
        raise NotImplementedError

    def sections(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The fields as the page groups them; the reason comes last, by itself."""
        found = [
            (section.title, [self[term.name] for term in section.terms])
            for section in self.wording.sections
        ]
        name, where, place = self.account
        dict(found)[where].insert(place, self[name])
        return found

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors:
            try:
                self.parse(self.wording.nested(cleaned, self._base))
            except (InvalidTerms, InvalidInstantTerms) as refusal:
                self._explain(refusal.problems)
        return cleaned

    def _explain(self, problems: Mapping[str, str]) -> None:
        for name, problem in problems.items():
            fields = [field for field in self.fields if field.split("__")[0] == name]
            sentence = f"{problem[0].upper()}{problem[1:]}."
            self.add_error(fields[0] if fields else None, sentence)


class TermsForm(WordedForm):
    """The terms of a rail to a bank."""

    wording = WORDING
    account = ("offset_account", "Our account at the bank", 2)
    account_length_max = OFFSET_ACCOUNT_LENGTH_MAX
    account_help = "Only for balanced files, and never shown. Empty: as it is."
    terms: RailTerms | None = None

    def parse(self, stored: dict[str, Any]) -> None:
        self.terms = RailTerms.parse(stored)


class StopForm(forms.Form):
    """Which part to stop, and why."""

    part = forms.ChoiceField(choices=RailPart.choices, label="Stop", widget=UnfoldAdminSelectWidget)
    reason = ReasonField()


class OriginatorForm(forms.Form):
    """A company and its limits."""

    tenant = forms.CharField(
        required=False,
        max_length=64,
        label="Tenant",
        help_text="An id. Empty: all tenants that have no company of their own.",
        widget=UnfoldAdminTextInputWidget,
    )
    company_name = TextField(
        max_length=16,
        label="Company name",
        help_text="What account holders read: upper-case letters and digits.",
        widget=UnfoldAdminTextInputWidget,
    )
    company_id = forms.CharField(
        max_length=10,
        label="Company id",
        help_text="As the bank gave it.",
        widget=UnfoldAdminTextInputWidget,
    )
    daily_debit_max = DollarsField(
        label="Debits a day, at most", help_text="Leave empty for no limit."
    )
    daily_credit_max = DollarsField(
        label="Credits a day, at most", help_text="Leave empty for no limit."
    )
    exposure_max = DollarsField(
        label="Sent and not final, at most",
        help_text="Leave empty for no limit. What exceeds it waits.",
    )
    reason = ReasonField()

    def clean_tenant(self) -> str:
        tenant_id: str = self.cleaned_data["tenant"]
        try:
            return selectors.found_tenant(tenant_id).pk if tenant_id else ""
        except NotFound as refusal:
            raise forms.ValidationError("There is no such tenant.") from refusal

    @property
    def company(self) -> Company:
        """What a valid form says."""
        values = self.cleaned_data
        return Company(
            company_name=values["company_name"],
            company_id=values["company_id"],
            daily_debit_max=values["daily_debit_max"],
            daily_credit_max=values["daily_credit_max"],
            exposure_max=values["exposure_max"],
        )
