"""Form fields that several packages use."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms

from common import text


class TextField(forms.CharField):
    """One line that names or describes something: visible characters only, in NFC."""

    default_error_messages: ClassVar[Any] = {
        "invisible": "Use visible characters only. This text has some that cannot be seen."
    }
    lines: ClassVar = False

    def to_python(self, value: Any) -> str:
        typed = str(super().to_python(value))
        try:
            return text.composed(typed, lines=self.lines)
        except text.Unseen as error:
            message = self.error_messages["invisible"]
            raise forms.ValidationError(message, code="invisible") from error


class LinesField(TextField):
    """Text of one or more lines, otherwise as `TextField`."""

    lines: ClassVar = True
