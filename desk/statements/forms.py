"""What people type about statements and our accounts."""

from __future__ import annotations

from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminFileFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from common.money import AMOUNT_MAX, parse_dollars
from desk.forms import ReasonField
from networks.ach.models import AchRail
from networks.instant.models import InstantRail
from reconciliation.accounts import NUMBER_LENGTH_MAX, Opening
from reconciliation.models import StatementFormat

UPLOAD_BYTES_MAX = 8 << 20  # what is larger comes by the bank's folder
_TOO_LARGE = f"Choose a file of at most {UPLOAD_BYTES_MAX >> 20} MiB."


def _with_files() -> list[tuple[str, str]]:
    """Rails for which a bank's files are kept."""
    return [(name, name) for name in AchRail.objects.order_by("pk").values_list("pk", flat=True)]


def _with_money() -> list[tuple[str, str]]:
    """Rails behind which there may be an account: those of banks and of instant networks."""
    names = AchRail.objects.values_list("pk", flat=True)
    known = names.union(InstantRail.objects.values_list("pk", flat=True))
    return [(name, name) for name in sorted(known)]


class UploadForm(forms.Form):
    """A statement that somebody has from the bank. A larger file does not even arrive here
    (`FILE_UPLOAD_MAX_MEMORY_SIZE`), so that none reaches the disk as it is."""

    rail = forms.ChoiceField(choices=_with_files, label="Rail", widget=UnfoldAdminSelectWidget)
    file = forms.FileField(
        label="Bank statement",
        help_text=f"BAI2 or camt.053, at most {UPLOAD_BYTES_MAX >> 20} MiB.",
        max_length=200,
        error_messages={"required": _TOO_LARGE},
        widget=UnfoldAdminFileFieldWidget,
    )
    reason = ReasonField()

    def clean_file(self) -> Any:
        file: Any = self.cleaned_data["file"]
        if not file.size or file.size > UPLOAD_BYTES_MAX:
            raise forms.ValidationError(_TOO_LARGE)
        return file


class BalanceField(forms.CharField):
    """Dollars that may be none; cleaned to cents."""

    def __init__(self, **options: Any) -> None:
        widget = UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal"})
        super().__init__(max_length=24, widget=widget, **options)

    def clean(self, value: Any) -> Any:
        cents = parse_dollars(super().clean(value))
        if cents is None or not 0 <= cents <= AMOUNT_MAX:
            raise forms.ValidationError("A balance like 2,500.00, or 0.00.")
        return cents


class AccountForm(forms.Form):
    """Our account at the bank behind a rail, as the bank says it is."""

    rail = forms.ChoiceField(choices=_with_money, label="Rail", widget=UnfoldAdminSelectWidget)
    number = forms.CharField(
        max_length=NUMBER_LENGTH_MAX,
        label="Number of our account",
        help_text="As it stands in the bank's statements. It is stored encrypted.",
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
    )
    format = forms.ChoiceField(
        choices=StatementFormat.choices,
        label="Format",
        help_text="The one in which the bank's statements are taken.",
        widget=UnfoldAdminSelectWidget,
    )
    opened_on = forms.DateField(
        label="First day",
        help_text="The first day whose statement is taken.",
        widget=UnfoldAdminTextInputWidget(attrs={"type": "date"}),
    )
    cents = BalanceField(label="Balance when that day began")
    reason = ReasonField()

    @property
    def opening(self) -> Opening:
        """What a valid form holds."""
        values = {name: value for name, value in self.cleaned_data.items() if name != "reason"}
        return Opening(**values | {"format": StatementFormat(values["format"])})
