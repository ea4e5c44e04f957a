"""django-allauth's policy: people join by invitation, so nobody signs up on their own."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest

from common.clock import utc_now
from tenants.emails import queue_password_reset
from tenants.models import User


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def send_password_reset_mail(self, user: User, email: str, context: dict[str, Any]) -> None:
        """Through our outbox, which a mail server that is down does not break."""
        queue_password_reset(user=user, now=utc_now())
