"""allauth's forms for passwords, with labels as ours are written."""

from __future__ import annotations

from typing import Any

from allauth.account import forms

from tenants import passwords

_LABELS = {
    "oldpassword": "Current password",
    "password1": "New password",
    "password2": "New password, again",
}


class _Relabeled:
    fields: dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in _LABELS.keys() & self.fields.keys():
            self.fields[name].label = _LABELS[name]
            self.fields[name].widget.attrs.pop("placeholder", None)
        self.fields["password1"].help_text = passwords.HINT


class ChangePasswordForm(_Relabeled, forms.ChangePasswordForm):  # type: ignore[misc]  # no types
    pass


class ResetPasswordKeyForm(_Relabeled, forms.ResetPasswordKeyForm):  # type: ignore[misc]
    pass
