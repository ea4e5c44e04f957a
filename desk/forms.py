"""What staff type: reasons and amounts, in the desk's widgets."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from common.errors import NotFound
from common.forms import LinesField
from common.money import AMOUNT_MAX, format_cents, parse_dollars
from funding.methods import METHODS
from funding.services.limits import OwnLimits
from tenants import selectors

REASON_LENGTH_MIN, REASON_LENGTH_MAX = 5, 200


EXPORTED_AT_MOST = timedelta(days=366)


def _day() -> forms.DateInput:
    widget: forms.DateInput = UnfoldAdminTextInputWidget(attrs={"type": "date"})
    return widget


class ReasonField(LinesField):
    """The reason for a step: a sentence that stays in the audit log."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            min_length=REASON_LENGTH_MIN,
            max_length=REASON_LENGTH_MAX,
            widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
            help_text="Stored permanently in the audit log.",
            **options,
        )


class DollarsField(forms.CharField):
    """Dollars as people type them; cleaned to cents. Empty: None."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            required=False,
            max_length=24,
            widget=UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal"}),
            **options,
        )

    def prepare_value(self, value: Any) -> Any:
        return format_cents(value) if isinstance(value, int) else value

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if not text:
            return None
        cents = parse_dollars(text)
        if not cents or cents > AMOUNT_MAX:
            raise forms.ValidationError("An amount like 2,500.00, at least a cent.")
        return cents

    def validate(self, value: Any) -> None:
        """Skip the check for a length: cents have none."""

    def run_validators(self, value: Any) -> None:
        """Run no validators of text: they would count the letters of a number."""


class ReasonForm(forms.Form):
    """A reason and nothing else."""

    reason = ReasonField()


class LimitsForm(forms.Form):
    """A tenant's own limits; what is left empty follows the deployment."""

    ach_transaction_max = DollarsField(label=f"Each {METHODS['ach_debit'].words}, at most")
    rtp_transaction_max = DollarsField(label=f"Each {METHODS['rtp'].words}, at most")
    daily_max = DollarsField(label="A day, at most")
    monthly_max = DollarsField(label="A month, at most")
    reason = ReasonField()

    @property
    def limits(self) -> OwnLimits:
        """The limits that a valid form holds."""
        values = {name: cents for name, cents in self.cleaned_data.items() if name != "reason"}
        return OwnLimits(**values)


class ExportForm(forms.Form):
    """Which days of the journal, both included, and whose."""

    first = forms.DateField(label="First day", widget=_day())
    last = forms.DateField(label="Last day", widget=_day())
    tenant = forms.CharField(
        required=False,
        label="Tenant",
        help_text="An id, or empty for all.",
        widget=UnfoldAdminTextInputWidget,
    )

    def clean_tenant(self) -> str:
        tenant_id: str = self.cleaned_data["tenant"]
        try:
            return selectors.found_tenant(tenant_id).pk if tenant_id else ""
        except NotFound as refusal:
            raise forms.ValidationError("There is no such tenant.") from refusal

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        first, last = cleaned.get("first"), cleaned.get("last")
        if first and last and not first <= last <= first + EXPORTED_AT_MOST:
            raise forms.ValidationError("The last day comes after the first, by a year at most.")
        return cleaned
