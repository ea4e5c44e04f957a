"""What this session has proven, and when: a password, a second factor, an identity at a provider of
single sign-on.

django-allauth notes each proof in the session with its method and the second it was given. A proof
that is given later than the sign-in counts only beside a token of its own, which the browser has in
a second cookie: who copied the session's cookie before gains nothing by it (decision 0195).
"""

from __future__ import annotations

import hashlib
import re
from datetime import datetime, timedelta
from typing import Any

from allauth.account.authentication import (
    AUTHENTICATION_METHODS_SESSION_KEY,
    get_authentication_records,
)
from allauth.account.internal.flows.login import record_authentication
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import get_random_string

from tenants import second_factor
from tenants.models import User

TOKEN_FIELD = "proof-token"  # noqa: S105  # the name of a field
_FACTOR, _PASSWORD = "mfa", "password"  # allauth's names of methods
_SSO = "sso"  # ours
_TOKEN_LENGTH = 43  # of letters and digits: 256 bits
_TOKEN = re.compile(rf"[A-Za-z0-9]{{{_TOKEN_LENGTH}}}")
_DIGEST = "token"  # in a proof: of the token that it counts with


def has_factor(request: HttpRequest) -> bool:
    """Whether a second factor was proven in this session, at sign-in or since. No query."""
    return any(proof["method"] == _FACTOR or proof.get("has_factor") for proof in _of(request))


def connection_of(request: HttpRequest) -> str | None:
    """The id of the connection of single sign-on that this session began with, if it did. No
    query."""
    return next((proof["connection"] for proof in _of(request) if proof["method"] == _SSO), None)


def is_recent(request: HttpRequest, *, now: datetime) -> bool:
    """Whether the person proved within the last STEP_UP_MINUTES who they are: with a second factor,
    or with the password or at their provider if they have no factor of ours. Takes a query only in
    a session without a factor.
    """
    earliest = (now - timedelta(minutes=settings.STEP_UP_MINUTES)).timestamp()
    tokens = _tokens(request)
    recent = {
        proof["method"]
        for proof in _of(request)
        if proof["at"] > earliest and proof.get(_DIGEST) in tokens
    }
    if _FACTOR in recent:
        return True
    is_known = not recent.isdisjoint((_PASSWORD, _SSO))
    return is_known and not second_factor.is_set_up(user_id=str(request.user.pk))


def new_token() -> str:
    """A token for a form that brings a proof. A second click sends it again, and so counts as
    proven before the cookie of the first one's answer has arrived."""
    return get_random_string(_TOKEN_LENGTH)


def bind(request: HttpRequest) -> None:
    """Let the proof that was noted last count only with a token, which the answer brings to the
    browser: that of the form, or a new one."""
    sent = request.POST.get(TOKEN_FIELD, "")
    token = sent if _TOKEN.fullmatch(sent) else new_token()
    proofs = _of(request)
    # Without allauth's own mark of a later proof: it would count without the token there.
    last = {name: value for name, value in proofs[-1].items() if name != "reauthenticated"}
    request.session[AUTHENTICATION_METHODS_SESSION_KEY] = [
        *proofs[:-1],
        {**last, _DIGEST: _digest(token)},
    ]
    request.proof_token = token  # type: ignore[attr-defined]  # for the answer to this request


def note_second_click(request: HttpRequest) -> None:
    """Let the answer bring the token again where the form has that of a proof: the browser may
    never see the answer to its first click."""
    sent = request.POST.get(TOKEN_FIELD, "")
    if sent and any(proof.get(_DIGEST) == _digest(sent) for proof in _of(request)):
        request.proof_token = sent  # type: ignore[attr-defined]  # as `bind` does


def give_token(request: HttpRequest, response: HttpResponse) -> None:
    """Give the browser the token of the proof that came with this request, if one did."""
    token = getattr(request, "proof_token", None)
    if token is not None:
        response.set_cookie(
            settings.PROOF_COOKIE_NAME,
            token,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Strict",
        )


def enrolled(request: HttpRequest, *, user: User, authenticator: Authenticator) -> None:
    """Note a factor that was set up just now, which takes the same proof as using it."""
    record_authentication(request, user, _FACTOR, id=authenticator.pk, type=authenticator.type)
    bind(request)


def password_chosen(request: HttpRequest, *, user: User) -> None:
    """Note that the person has just chosen the password."""
    record_authentication(request, user, _PASSWORD)


def came_from_provider(
    request: HttpRequest,
    *,
    user: User,
    connection_id: str,
    has_factor: bool,
    proven_at: float,
    is_again: bool,
) -> None:
    """Note that a provider vouched for the person, who proved to it who they are at `proven_at`
    (seconds since 1970). `is_again`: somebody who is signed in proved it once more, which counts
    with a token (`bind`)."""
    record_authentication(
        request,
        user,
        _SSO,
        type=f"{_SSO}:{connection_id}",
        connection=connection_id,
        has_factor=has_factor or None,
    )
    *before, last = _of_person(request, user)
    at = min(last["at"], proven_at)
    request.session[AUTHENTICATION_METHODS_SESSION_KEY] = [*before, {**last, "at": at}]
    if is_again:
        bind(request)


def forget_removed(request: HttpRequest, *, user: User) -> None:
    """A factor was removed: what was proven with it counts no more. One query."""
    left = set(Authenticator.objects.filter(user_id=user.pk).values_list("pk", flat=True))
    kept = [proof for proof in _of(request) if proof["method"] != _FACTOR or proof["id"] in left]
    request.session[AUTHENTICATION_METHODS_SESSION_KEY] = kept


def _of(request: HttpRequest) -> list[dict[str, Any]]:
    return _of_person(request, request.user)


def _of_person(request: HttpRequest, user: object) -> list[dict[str, Any]]:
    proofs: list[dict[str, Any]] = get_authentication_records(request, user)
    return proofs


def _tokens(request: HttpRequest) -> set[str | None]:
    """The digests of the tokens that came with this request. None: a sign-in's proof has none."""
    sent = (
        request.COOKIES.get(settings.PROOF_COOKIE_NAME),
        request.POST.get(TOKEN_FIELD),
        getattr(request, "proof_token", None),
    )
    return {None, *(_digest(token) for token in sent if token)}


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
