"""Form fields for what people type about money."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.core.validators import EmailValidator

from common.money import AMOUNT_MAX, format_cents, parse_dollars

_BETWEEN_ADDRESSES = re.compile(r"[\s,;]+")


class DollarsField(forms.CharField):
    """Dollars as people type them; cents from here on. Nothing typed is None."""

    def __init__(self, *, least: int = 0, **options: Any) -> None:
        widget = forms.TextInput(
            attrs={"inputmode": "decimal", "autocomplete": "off", "placeholder": "0.00"}
        )
        super().__init__(max_length=24, widget=widget, **options)
        self.least = least

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text:
            return None
        cents = parse_dollars(text)
        if cents is None or cents > AMOUNT_MAX:
            raise forms.ValidationError("Enter an amount in dollars, such as 250 or 1,250.00.")
        if cents < self.least:
            raise forms.ValidationError(f"Enter at least {format_cents(self.least)}.")
        return cents


class AddressesField(forms.CharField):
    """A few e-mail addresses, one per line or with commas; a list in lower case from here on."""

    def __init__(self, *, most: int, **options: Any) -> None:
        widget = forms.Textarea(attrs={"rows": 3, "autocomplete": "off", "spellcheck": "false"})
        super().__init__(max_length=most * 255, widget=widget, **options)
        self.most = most

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        text = super().clean(value).lower()
        addresses = list(dict.fromkeys(filter(None, _BETWEEN_ADDRESSES.split(text))))
        if len(addresses) > self.most:
            raise forms.ValidationError(f"Enter at most {self.most} addresses.")
        for address in addresses:
            _require_address(address)
        return addresses


def dollars_text(cents: int | None) -> str:
    """What stands in a DollarsField: `123456` → `1,234.56`."""
    return "" if cents is None else format_cents(cents).removeprefix("$")


def _require_address(address: str) -> None:
    try:
        EmailValidator()(address)
    except forms.ValidationError as error:
        raise forms.ValidationError(f"{address} is not a valid e-mail address.") from error
