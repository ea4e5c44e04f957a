"""What people set for auto-funding. The service has the last word on all of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from django import forms

from dashboard.bank_accounts.names import account_name
from dashboard.shell.fields import AddressesField, DollarsField, dollars_text
from dashboard.shell.method_choice import MethodChoice
from funding.models import AutoFundingConfig, FundingMethod, FundingSource
from funding.services.auto_funding_config import (
    CONFIRMATION_EMAILS_MAX,
    Changes,
    version_of,
)

# What the refusals of the service call our fields.
FIELDS = {
    "lowBalanceThreshold": "low_balance_threshold",
    "fundingAmount": "funding_amount",
    "fundingMethod": "funding_method",
    "fundingSourceId": "source_id",
}
_AMOUNTS = (
    "low_balance_threshold",
    "funding_amount",
    "monthly_limit",
    "confirmation_threshold",
)


class AutoFundingForm(forms.Form):
    """All settings, each named like the column it changes, and which ones it was filled with."""

    seen = forms.CharField(widget=forms.HiddenInput, max_length=40, required=False)
    enabled = forms.BooleanField(label="Add money automatically", required=False)
    low_balance_threshold = DollarsField(
        label="When the balance drops below",
        required=False,
        help_text="Money that is already on its way counts toward the balance.",
    )
    funding_amount = DollarsField(label="Add", least=1, required=False)
    source_id = forms.ChoiceField(label="From", required=False)
    funding_method = forms.ChoiceField(
        label="Method", widget=forms.RadioSelect, initial=FundingMethod.ACH_DEBIT
    )
    monthly_limit = DollarsField(
        label="Monthly limit (optional)",
        least=1,
        required=False,
        help_text="For each calendar month, Eastern time. Leave empty for no limit.",
    )
    confirmation_threshold = DollarsField(
        label="Require approval above (optional)",
        required=False,
        help_text="Larger amounts wait until somebody approves them. Leave empty to never ask.",
    )
    confirmation_emails = AddressesField(
        label="Who is asked",
        most=CONFIRMATION_EMAILS_MAX,
        required=False,
        help_text="Enter one address per line. Leave empty to ask your owners and approvers.",
    )
    confirm_topups = forms.BooleanField(
        label="Also require approval for large manual top-ups", required=False
    )

    def __init__(
        self,
        *args: Any,
        sources: Sequence[FundingSource],
        methods: list[tuple[str, MethodChoice]],
        saved: AutoFundingConfig,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._saved = saved
        default = next((account_name(row) for row in sources if row.is_default), "none yet")
        accounts = [(row.pk, account_name(row)) for row in sources]
        self.fields["source_id"].choices = [("", f"The default account ({default})"), *accounts]  # type: ignore[attr-defined]  # a ChoiceField
        self.fields["funding_method"].choices = methods  # type: ignore[attr-defined]

    def clean_source_id(self) -> str | None:
        return self.cleaned_data["source_id"] or None

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        for name in ("low_balance_threshold", "funding_amount"):
            if data.get("enabled") and name in data and data[name] is None:
                self.add_error(name, "Enter an amount to switch auto-funding on.")
        return data

    @property
    def settings(self) -> dict[str, Any]:
        """As they are typed, as far as they make sense; before that, as they are saved. Named like
        the columns."""
        return self.cleaned_data if self.is_bound else vars(self._saved)

    def changes(self, saved: AutoFundingConfig) -> Changes:
        """What differs from the saved settings: only that is asked of the service."""
        wanted = {name: self.cleaned_data[name] for name in self.fields if name != "seen"}
        changed = {name: value for name, value in wanted.items() if value != getattr(saved, name)}
        return cast("Changes", changed)


def initial(saved: AutoFundingConfig) -> dict[str, Any]:
    """The saved settings as the form shows them; before the first time, switched on."""
    values = {name: dollars_text(getattr(saved, name)) for name in _AMOUNTS}
    return {
        **values,
        "seen": version_of(saved),
        "enabled": saved.enabled or not saved.updated_at,
        "source_id": saved.source_id or "",
        "funding_method": saved.funding_method or FundingMethod.ACH_DEBIT,
        "confirmation_emails": saved.confirmation_emails,
        "confirm_topups": saved.confirm_topups,
    }
