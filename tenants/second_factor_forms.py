"""allauth's forms for codes, in our words and with a daily limit on guesses."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.core import context, ratelimit
from allauth.mfa.base import forms as base
from allauth.mfa.totp import forms as totp
from django import forms

_ATTRIBUTES = {"autocomplete": "one-time-code", "inputmode": "numeric", "autofocus": True}


def _code_field(label: str, hint: str = "") -> forms.CharField:
    return forms.CharField(
        label=label,
        help_text=hint,
        max_length=20,
        widget=forms.TextInput(attrs=_ATTRIBUTES),
        error_messages={"required": "Type the code."},
    )


class _Guarded:
    """Counts guesses per person on top of allauth's own limit; a right code resets the count."""

    user: Any

    def clean_code(self) -> str:
        key = str(self.user.pk)
        if not ratelimit.consume(context.request, action="second_factor", key=key):
            raise get_adapter().validation_error("too_many_login_attempts")
        code: str = super().clean_code()  # type: ignore[misc]  # of the form it is mixed into
        ratelimit.clear(context.request, action="second_factor", key=key)
        return code


class AuthenticateForm(_Guarded, base.AuthenticateForm):  # type: ignore[misc]  # no types
    code = _code_field("Code", "From your authenticator app, or one of your recovery codes.")


class ReauthenticateForm(_Guarded, base.ReauthenticateForm):  # type: ignore[misc]
    code = _code_field("Code", "From your authenticator app, or one of your recovery codes.")


class ActivateForm(totp.ActivateTOTPForm):  # type: ignore[misc]
    code = _code_field("Code that the app shows now")
