"""How each kind of term is typed and shown. Values are those of the JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import time
from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from common.money import format_cents, parse_dollars
from desk.rails import host_keys

TEXT_LENGTH_MAX = 200
MINUTE = 60  # seconds
_CUTOFF = re.compile(r"(\d{1,2}:\d{2})(?:\s+(same day))?", re.IGNORECASE)


class TextField(forms.CharField):
    def __init__(self, **options: Any) -> None:
        options.setdefault("required", False)  # the terms say what may be empty
        options.setdefault("max_length", TEXT_LENGTH_MAX)
        super().__init__(widget=UnfoldAdminTextInputWidget, **options)


class PartyField(TextField):
    """A routing number or an id of ten characters; a file has a blank before a routing number."""

    def prepare_value(self, value: Any) -> Any:
        return value.strip() if isinstance(value, str) else value

    def to_python(self, value: Any) -> str:
        text = str(super().to_python(value))
        return f" {text}" if len(text) == 9 else text


class LinesField(forms.CharField):
    """One text of some lines."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            required=False,
            max_length=2000,
            widget=UnfoldAdminTextareaWidget(attrs={"rows": 3, "spellcheck": "false"}),
            **options,
        )


class HostKeyField(LinesField):
    """One public key of a server; cleaned to its kind and itself."""

    def to_python(self, value: Any) -> str:
        text = " ".join(str(super().to_python(value)).split())
        if text and not host_keys.fingerprint(text):
            raise forms.ValidationError("A line as ssh-ed25519 AAAA…, or ssh-rsa AAAA….")
        return text


class CutoffsField(LinesField):
    """One cut-off in a line, as `10:30 same day`; cleaned to what the terms store."""

    def prepare_value(self, value: Any) -> Any:
        return value if not isinstance(value, list) else "\n".join(map(_cutoff_words, value))

    def to_python(self, value: Any) -> Any:
        lines = [line.strip() for line in (value or "").splitlines() if line.strip()]
        return [_cutoff(line) for line in lines]

    def validate(self, value: Any) -> None:
        """Skip the checks of text: the terms judge the times."""

    def run_validators(self, value: Any) -> None:
        """Run no validators of text either."""


class CentsField(forms.Field):
    """Dollars as people type them; cleaned to cents."""

    def __init__(self, **options: Any) -> None:
        widget = UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal"})
        super().__init__(widget=widget, **options)

    def prepare_value(self, value: Any) -> Any:
        return format_cents(value) if isinstance(value, int) else value

    def to_python(self, value: Any) -> Any:
        cents = parse_dollars(value or "")
        if value and cents is None:
            raise forms.ValidationError("An amount like 2,500.00.")
        return cents


class SecondsField(forms.IntegerField):
    """A whole number of `unit` seconds; cleaned to seconds."""

    def __init__(self, *, unit: int = 1, **options: Any) -> None:
        self._unit = unit
        widget = UnfoldAdminTextInputWidget(attrs={"inputmode": "numeric"})
        super().__init__(min_value=0, max_value=1_000_000, widget=widget, **options)

    def prepare_value(self, value: Any) -> Any:
        return value // self._unit if isinstance(value, int) else value

    def clean(self, value: Any) -> Any:
        number = super().clean(value)
        return None if number is None else number * self._unit


@dataclass(frozen=True)
class Kind:
    """`field` makes the form field, `words` say a value to people."""

    field: Callable[..., forms.Field]
    words: Callable[[Any], str]


def choice(labels: dict[str, str]) -> Kind:
    """One of these values."""

    def field(**options: Any) -> forms.Field:
        return forms.ChoiceField(
            choices=list(labels.items()), widget=UnfoldAdminSelectWidget, **options
        )

    return Kind(field, lambda value: labels.get(value, str(value)))


def several(values: Sequence[str]) -> Kind:
    """Some of these values."""

    def field(**options: Any) -> forms.Field:
        return forms.MultipleChoiceField(
            choices=[(value, value.replace("_", " ")) for value in values],
            required=False,
            widget=UnfoldAdminCheckboxSelectMultipleWidget,
            **options,
        )

    return Kind(field, lambda value: ", ".join(value).replace("_", " ") or "None")


def _yes_or_no(**options: Any) -> forms.Field:
    return forms.BooleanField(required=False, widget=UnfoldBooleanSwitchWidget, **options)


def _minutes(**options: Any) -> forms.Field:
    return SecondsField(unit=MINUTE, **options)


def _plain(value: Any) -> str:
    return str(value).strip() or "–"


def _minutes_words(value: int) -> str:
    hours, minutes = divmod(value // MINUTE, MINUTE)
    parts = [f"{hours} h"] * bool(hours) + [f"{minutes} min"] * bool(minutes or not hours)
    return " ".join(parts)


def _cutoff(line: str) -> dict[str, Any]:
    match = _CUTOFF.fullmatch(line)
    try:
        at = time.fromisoformat((match[1] if match else "").zfill(5))
    except ValueError as error:
        raise forms.ValidationError("A line is a time, as 10:30, or 10:30 same day.") from error
    return {"at": at.isoformat(timespec="minutes"), "same_day": bool(match and match[2])}


def _cutoff_words(cutoff: dict[str, Any]) -> str:
    return f"{cutoff['at']} same day" if cutoff.get("same_day") else str(cutoff["at"])


TEXT = Kind(TextField, _plain)
PARTY = Kind(PartyField, _plain)
HOST_KEY = Kind(HostKeyField, _plain)
CUTOFFS = Kind(CutoffsField, lambda value: ", ".join(map(_cutoff_words, value)))
CENTS = Kind(CentsField, format_cents)
CENTS_OR_NEVER = Kind(CentsField, lambda value: format_cents(value) if value else "Never")
MINUTES = Kind(_minutes, _minutes_words)
SECONDS = Kind(SecondsField, lambda value: f"{value} s")
COUNT = Kind(SecondsField, lambda value: f"{value:,}")
YES_NO = Kind(_yes_or_no, lambda value: "Yes" if value else "No")
