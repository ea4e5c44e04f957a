"""What owners type to limit what is paid out."""

from __future__ import annotations

from typing import Any

from django import forms
from django.forms import BoundField

from common.money import AMOUNT_MAX
from dashboard.shell.fields import DollarsField, dollars_text
from payments import caps
from payments.caps import Cap, Caps, CapScope, Window
from payments.services.cool_down_settings import HOURS_MAX

_TITLES = {
    CapScope.TENANT: "All payments",
    CapScope.RECIPIENT: "To one recipient",
    CapScope.KEY: "By one API key",
    CapScope.PERSON: "By one person, with the API keys that they made",
}
_WINDOWS = {Window.DAY: "in any 24 hours", Window.MONTH: "in any 30 days"}


class LimitsForm(forms.Form):
    """Dollars and payments for each scope and window; empty is no limit."""

    def __init__(self, *args: Any, known: Caps, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for scope, window in caps.KEYS:
            cap, amount, payments = known[scope, window], *_names(scope, window)
            self.fields[amount] = DollarsField(
                label=f"Dollars {_WINDOWS[window]}",
                least=1,
                required=False,
                initial=dollars_text(cap.amount),
            )
            self.fields[payments] = forms.IntegerField(
                label=f"Payments {_WINDOWS[window]}",
                required=False,
                min_value=1,
                max_value=AMOUNT_MAX,
                initial=cap.payments,
                error_messages={"invalid": "Enter a number, such as 50."},
            )

    @property
    def groups(self) -> list[tuple[str, list[BoundField]]]:
        """The fields of each scope, with its title."""
        return [
            (
                title,
                [self[name] for window in Window for name in _names(scope, window)],
            )
            for scope, title in _TITLES.items()
        ]

    @property
    def wanted(self) -> Caps:
        """The limits that were typed, of a valid form."""
        typed = self.cleaned_data
        return {key: Cap(*(typed[name] for name in _names(*key))) for key in caps.KEYS}


class CoolDownForm(forms.Form):
    """For how long a recipient is new."""

    hours = forms.IntegerField(
        label="Hours",
        min_value=0,
        max_value=HOURS_MAX,
        help_text="Enter 0 to require no approval for new recipients. The most is 720 hours.",
        error_messages={
            "required": "Enter a number of hours.",
            "invalid": "Enter a number of hours.",
        },
    )


def _names(scope: CapScope, window: Window) -> tuple[str, str]:
    return f"{scope}_{window}_amount", f"{scope}_{window}_payments"
