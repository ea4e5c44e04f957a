"""How staff come to their first second factor: by a link that somebody else sent.

The password alone must not be enough, or whoever learns it first sets up the factor. The link is
never stored; it works for an hour, for its person, and until a factor is set up.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from tenants import second_factor
from tenants.models import User

ASK = "Ask somebody else of staff to send you the link to set one up."
_SESSION_KEY = "enrolment"


class _Tokens(PasswordResetTokenGenerator):
    """Tokens that die with a new password, and with the first factor."""

    key_salt = "tenants.enrolment"

    def _make_hash_value(self, user: Any, timestamp: int) -> str:
        factors = Authenticator.objects.filter(user_id=user.pk).order_by("pk")
        known = [str(pk) for pk in factors.values_list("pk", flat=True)]
        return f"{user.pk}{user.password}{timestamp}{','.join(known)}"


_tokens = _Tokens()


def link(user: User) -> str:
    """The address at which this person may set up a second factor within the hour."""
    return settings.BASE_URL + reverse("enroll", args=[_tokens.make_token(user)])


def accept(request: HttpRequest, *, token: str) -> bool:
    """The person opened the link in this session. False if it is not theirs, or of no use now."""
    is_theirs = request.user.is_authenticated and _tokens.check_token(request.user, token)
    if is_theirs:
        request.session[_SESSION_KEY] = token
    return is_theirs


def needs_link(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """A page on which a factor is added: staff without any have come by a link."""

    @functools.wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated and not _may_enroll(request, request.user):
            messages.warning(request, ASK)
            return redirect("mfa_index")
        return view(request, *args, **kwargs)

    return guarded


def _may_enroll(request: HttpRequest, user: User) -> bool:
    if not (settings.STAFF_SECOND_FACTOR and user.is_staff):
        return True
    if second_factor.is_set_up(user_id=user.pk):
        return True  # who adds another one has proven the first
    return _tokens.check_token(user, request.session.get(_SESSION_KEY))
