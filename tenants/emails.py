"""The messages of this app: what they need is put together when they are sent."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from allauth.account.forms import default_token_generator
from django.conf import settings
from django.urls import reverse

from tenants.models import OutgoingEmail, User
from tenants.services import emails

PASSWORD_RESET = "password_reset"  # noqa: S105  # a template's name
_USELESS_AFTER = timedelta(hours=1)


def queue_password_reset(*, user: User, now: datetime) -> None:
    """Send this person a link to choose a new password."""
    emails.queue(
        tenant_id=None,
        to=user.email,
        template=PASSWORD_RESET,
        context={"user_id": user.pk},
        now=now,
    )


@emails.builds_context(PASSWORD_RESET)
def _password_reset(email: OutgoingEmail, now: datetime) -> Mapping[str, Any] | None:
    """Makes the link, which is never stored. Nothing is sent for a closed or forgotten request."""
    user = User.objects.filter(pk=email.context["user_id"], is_active=True).first()
    if user is None or now - email.created_at > _USELESS_AFTER:
        return None
    path = reverse(
        "account_reset_password_from_key",
        kwargs={"uidb36": user.pk, "key": default_token_generator.make_token(user)},
    )
    return {"email": user.email, "link": settings.BASE_URL + path}
