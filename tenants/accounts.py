"""django-allauth's policy: people join by invitation, so nobody signs up on their own."""

from __future__ import annotations

from typing import Any, ClassVar

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.internal import ratelimit
from django.http import HttpRequest

from common.clock import utc_now
from tenants import devices, proofs, selectors
from tenants.emails import queue_account_notice, queue_password_reset
from tenants.models import User
from tenants.services import sign_ins


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    # What allauth says also where a person is signed in and proves who they are.
    error_messages: ClassVar[dict[str, Any]] = {
        **DefaultAccountAdapter.error_messages,
        "account_inactive": "This account is closed.",
        "email_password_mismatch": (
            "That e-mail address and password do not match. Check both and try again."
        ),
        "enter_current_password": "Enter your current password.",
        "incorrect_password": "That password is not correct.",
        "rate_limited": "You tried too often. Wait a few minutes and try again.",
        "too_many_login_attempts": "Too many wrong passwords or codes. Try again later.",
    }
    _is_proof = False  # whether who is signed in proves who they are

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def send_password_reset_mail(self, user: User, email: str, context: dict[str, Any]) -> None:
        """Queue the e-mail in our outbox, which works while the mail server is down."""
        queue_password_reset(user=user, now=utc_now())

    def send_notification_mail(self, template_prefix: str, user: User, **_rest: Any) -> None:
        """Tell the person by e-mail, through the outbox, that their way of signing in changed."""
        change, now = template_prefix.rpartition("/")[2], utc_now()
        # A new password may begin a wait before they approve again (tenants.services.closing).
        is_reset = change == "password_reset"
        queue_account_notice(
            user=user,
            change=change,
            address=self.get_client_ip(self.request),
            approves_from=(
                selectors.approves_again_from(user_id=user.pk, now=now) if is_reset else None
            ),
            now=now,
        )

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Refuse who typed too many wrong passwords: for an account from one address, or in one
        browser that the account knows, which strangers cannot use up; and, slowly, from anywhere
        else. Raises ValidationError."""
        super().pre_authenticate(request, **credentials)
        email = _email_of(credentials)
        if devices.id_of(request, email=email) is not None:
            return
        self._anywhere = ratelimit.consume(
            request, app="allauth.account", action="login_failed_anywhere", key=email
        )
        if not self._anywhere:
            self._rollback_login_failed_rl_usage()
            raise self.validation_error("too_many_login_attempts")

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        email = _email_of(credentials)
        device = devices.id_of(request, email=email)
        return f"{email}:{device or self.get_client_ip(request)}"

    def _rollback_login_failed_rl_usage(self) -> None:
        super()._rollback_login_failed_rl_usage()
        if anywhere := getattr(self, "_anywhere", None):
            anywhere.rollback()

    def is_reauthentication_required(self, *, app: str, **_rest: Any) -> bool:
        """Ask before a change of factors as before everything else: not again within minutes."""
        return not proofs.is_recent(self.request, now=utc_now())

    def get_reauthentication_methods(self, user: User) -> list[dict[str, Any]]:
        """Who has a second factor proves that, and not the password."""
        ways: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        return [way for way in ways if way["id"] != "reauthenticate"] or ways

    def reauthenticate(self, user: User, password: str) -> bool:
        self._is_proof = True
        return bool(super().reauthenticate(user, password))

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        super().authentication_failed(request, **credentials)
        failed = sign_ins.proof_failed if self._is_proof else sign_ins.failed
        if user := selectors.person(email=credentials.get("email", "")):
            failed(user_id=user.pk, how="password", now=utc_now())


def _email_of(credentials: dict[str, Any]) -> str:
    return str(credentials.get("email", "")).lower()
