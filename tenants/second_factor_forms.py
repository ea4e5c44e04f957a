"""allauth's forms for codes, in our words and with our limits on guesses."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from allauth.core import context
from allauth.mfa.adapter import get_adapter as get_mfa_adapter
from allauth.mfa.base import forms as base
from allauth.mfa.models import Authenticator
from allauth.mfa.totp import forms as totp
from django import forms

from common.clock import utc_now
from tenants import app_codes, code_guesses, second_factor

_ATTRIBUTES = {"autocomplete": "one-time-code", "inputmode": "numeric", "autofocus": True}
# By what the person has: an app, recovery codes.
_HINTS = {
    (True, True): "From your authenticator app, or one of your recovery codes.",
    (True, False): "From your authenticator app.",
    (False, True): "One of your recovery codes.",
    (False, False): "",
}
# The app first: a wrong code is told of as the app's.
_OF_CODES = (Authenticator.Type.TOTP, Authenticator.Type.RECOVERY_CODES)


def _code_field(label: str) -> forms.CharField:
    return forms.CharField(
        label=label,
        max_length=20,
        widget=forms.TextInput(attrs=_ATTRIBUTES),
        error_messages={"required": "Enter the code."},
    )


class _Guarded:
    """Counts guesses by browser, where allauth counts them for the account alone."""

    user: Any
    fields: dict[str, forms.Field]
    cleaned_data: dict[str, Any]
    _emit_authentication_failed: Callable[[Authenticator], None]  # of allauth's form

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].help_text = self.hint
        if "totp" not in self._types and "recovery_codes" in self._types:
            self.fields["code"].label = "Recovery code"
        if self.asks_passkey_first:
            self.fields["code"].widget.attrs.pop("autofocus", None)

    @functools.cached_property
    def _types(self) -> frozenset[str]:
        return second_factor.types_of(user_id=self.user.pk)

    @property
    def hint(self) -> str:
        """Where the person finds a code, of what they have; empty for who has no codes."""
        return _HINTS["totp" in self._types, "recovery_codes" in self._types]

    @property
    def has_passkey(self) -> bool:
        return "webauthn" in self._types

    @property
    def asks_passkey_first(self) -> bool:
        """Whether a passkey is asked for first: the only codes are recovery codes."""
        return self.has_passkey and "totp" not in self._types

    def clean_code(self) -> str:
        """The code. Notes in `authenticator` what showed it. Raises ValidationError."""
        take_back = code_guesses.count(context.request, user=self.user)
        code: str = self.cleaned_data["code"]
        rows = list(Authenticator.objects.filter(user=self.user, type__in=_OF_CODES))
        rows.sort(key=lambda row: _OF_CODES.index(row.type))
        for row in rows:
            if _is_right(row, code):
                self.authenticator = row
                take_back()
                return code
        if rows:
            self._emit_authentication_failed(rows[0])
        raise get_mfa_adapter().validation_error("incorrect_code")


def _is_right(row: Authenticator, code: str) -> bool:
    if row.type == Authenticator.Type.TOTP:
        return app_codes.take(row, code=code, now=utc_now())
    return bool(row.wrap().validate_code(code))


class AuthenticateForm(_Guarded, base.AuthenticateForm):  # type: ignore[misc]  # no types
    code = _code_field("Code")


class ReauthenticateForm(_Guarded, base.ReauthenticateForm):  # type: ignore[misc]
    code = _code_field("Code")


class ActivateForm(totp.ActivateTOTPForm):  # type: ignore[misc]
    code = _code_field("Code that the app shows now")
