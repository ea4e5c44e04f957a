"""What this session has proven, and when: a password, a second factor.

django-allauth notes each proof in the session with its method and the second it was given.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from allauth.account.authentication import (
    AUTHENTICATION_METHODS_SESSION_KEY,
    get_authentication_records,
)
from allauth.account.internal.flows.login import record_authentication
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.http import HttpRequest

from tenants import second_factor
from tenants.models import User

_FACTOR, _PASSWORD = "mfa", "password"  # allauth's names of methods


def has_factor(request: HttpRequest) -> bool:
    """Whether a second factor was proven in this session, at sign-in or since. No query."""
    return any(proof["method"] == _FACTOR for proof in _of(request))


def is_recent(request: HttpRequest, *, now: datetime) -> bool:
    """Whether the person proved within the last STEP_UP_MINUTES who they are: with a second factor,
    or with the password if they have no factor. Takes a query only in a session without a factor.
    """
    earliest = (now - timedelta(minutes=settings.STEP_UP_MINUTES)).timestamp()
    recent = {proof["method"] for proof in _of(request) if proof["at"] > earliest}
    if _FACTOR in recent:
        return True
    return _PASSWORD in recent and not second_factor.is_set_up(user_id=str(request.user.pk))


def enrolled(request: HttpRequest, *, user: User, authenticator: Authenticator) -> None:
    """Note a factor that was set up just now, which takes the same proof as using it."""
    record_authentication(request, user, _FACTOR, id=authenticator.pk, type=authenticator.type)


def password_chosen(request: HttpRequest, *, user: User) -> None:
    """Note that the person has just chosen the password."""
    record_authentication(request, user, _PASSWORD)


def forget_removed(request: HttpRequest, *, user: User) -> None:
    """A factor was removed: what was proven with it counts no more. One query."""
    left = set(Authenticator.objects.filter(user_id=user.pk).values_list("pk", flat=True))
    kept = [proof for proof in _of(request) if proof["method"] != _FACTOR or proof["id"] in left]
    request.session[AUTHENTICATION_METHODS_SESSION_KEY] = kept


def _of(request: HttpRequest) -> list[dict[str, Any]]:
    proofs: list[dict[str, Any]] = get_authentication_records(request, request.user)
    return proofs
