"""The tokens of links that open an account: they are never stored, and die with what the person
has (decision 0190).

Who makes such a link needs neither the password's hash nor the ids of second factors: PostgreSQL
tells a digest of them, and a worker only that of the person whom a mail brings the link.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.utils.crypto import constant_time_compare
from django.utils.http import base36_to_int

from common.engine import sql
from tenants.models import OutgoingEmail

_ENROLMENT_SECONDS = 60 * 60
_OF_PERSON = "SELECT * FROM tenants_link_states(%(person)s)"
_OF_MAIL = "SELECT * FROM tenants_link_state_of_mail(%(mail)s)"


class _Tokens(PasswordResetTokenGenerator):
    """`state`: what the tokens hang on, where it is known; otherwise it is asked for."""

    column: int  # of _OF_PERSON

    def __init__(self, *, state: str = "") -> None:
        super().__init__()
        self._state = state

    def _make_hash_value(self, user: Any, timestamp: int) -> str:
        state = self._state
        if not state:
            row = sql.first(_OF_PERSON, {"person": user.pk})
            state = row[self.column] if row else ""
        return f"{user.pk}{state}{timestamp}"


class ResetTokens(_Tokens):
    """For a new password: they die with the password, with a sign-in, and with another address."""

    key_salt = "tenants.password_reset"
    column = 0


class EnrolmentTokens(_Tokens):
    """For a first second factor: they die after an hour, with the password, and with the first
    factor. `browser` is the secret of the session that alone may use them; "": any."""

    key_salt = "tenants.enrolment"
    column = 1

    def __init__(self, *, state: str = "", browser: str = "") -> None:
        super().__init__(state=state)
        self._browser = browser

    def _make_hash_value(self, user: Any, timestamp: int) -> str:
        return super()._make_hash_value(user, timestamp) + self._browser

    def check_token(self, user: Any, token: str | None) -> bool:
        """As Django's, which knows one lifetime for all links: that of a new password."""
        try:
            made = base36_to_int((token or "").partition("-")[0])
        except ValueError:
            return False
        if self._num_seconds(self._now()) - made > _ENROLMENT_SECONDS:
            return False
        secrets = [self.secret, *self.secret_fallbacks]
        expected = [self._make_token_with_timestamp(user, made, secret) for secret in secrets]
        return any(constant_time_compare(one, token or "") for one in expected)


def state_for(email: OutgoingEmail) -> str | None:
    """What the link hangs on that this mail is to bring. None for one that brings no link, or not
    to its person's own address, or was sent."""
    row = sql.first(_OF_MAIL, {"mail": email.pk})
    return str(row[0]) if row else None
