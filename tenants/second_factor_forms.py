"""allauth's forms for codes, in our words and with our limits on guesses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from allauth.core import context
from allauth.mfa.adapter import get_adapter as get_mfa_adapter
from allauth.mfa.base import forms as base
from allauth.mfa.models import Authenticator
from allauth.mfa.totp import forms as totp
from django import forms

from tenants import code_guesses

_ATTRIBUTES = {"autocomplete": "one-time-code", "inputmode": "numeric", "autofocus": True}
# The app first: a wrong code is told of as the app's.
_OF_CODES = (Authenticator.Type.TOTP, Authenticator.Type.RECOVERY_CODES)


def _code_field(label: str, hint: str = "") -> forms.CharField:
    return forms.CharField(
        label=label,
        help_text=hint,
        max_length=20,
        widget=forms.TextInput(attrs=_ATTRIBUTES),
        error_messages={"required": "Type the code."},
    )


class _Guarded:
    """Counts guesses by browser, where allauth counts them for the account alone."""

    user: Any
    cleaned_data: dict[str, Any]
    _emit_authentication_failed: Callable[[Authenticator], None]  # of allauth's form

    def clean_code(self) -> str:
        """The code. Notes in `authenticator` what showed it. Raises ValidationError."""
        take_back = code_guesses.count(context.request, user=self.user)
        code: str = self.cleaned_data["code"]
        rows = list(Authenticator.objects.filter(user=self.user, type__in=_OF_CODES))
        rows.sort(key=lambda row: _OF_CODES.index(row.type))
        for row in rows:
            if row.wrap().validate_code(code):
                self.authenticator = row
                take_back()
                return code
        if rows:
            self._emit_authentication_failed(rows[0])
        raise get_mfa_adapter().validation_error("incorrect_code")


class AuthenticateForm(_Guarded, base.AuthenticateForm):  # type: ignore[misc]  # no types
    code = _code_field("Code", "From your authenticator app, or one of your recovery codes.")


class ReauthenticateForm(_Guarded, base.ReauthenticateForm):  # type: ignore[misc]
    code = _code_field("Code", "From your authenticator app, or one of your recovery codes.")


class ActivateForm(totp.ActivateTOTPForm):  # type: ignore[misc]
    code = _code_field("Code that the app shows now")
