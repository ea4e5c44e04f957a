"""How people come to their first second factor: by a link, and never by the password alone, or
whoever learns it first sets up the factor.

Staff get theirs from somebody else of staff. Everybody else has one mailed to their own address, by
the browser that is to set up the factor: in no other one does it open anything. Links are never
stored; they work until a factor is set up, or the password is a new one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.crypto import get_random_string

from common.clock import utc_now
from tenants import second_factor
from tenants.link_tokens import EnrolmentTokens
from tenants.models import User

OWN_LINK_MINUTES = 10  # to open the link, and then to set up the factor
_OF_COLLEAGUE, _ASKED, _UNTIL = "enrolment", "enrolment_asked", "enrolment_until"  # in the session


def link(user: User, *, browser: str = "", state: str = "") -> str:
    """The address at which this person may set up a second factor: within the hour in any browser,
    or in the one that has this secret. `state` is what it hangs on, if that is known."""
    tokens = EnrolmentTokens(browser=browser, state=state)
    return settings.BASE_URL + reverse("enroll", args=[tokens.make_token(user)])


def is_sent_by_colleague(user: User) -> bool:
    """Whether somebody else must send this person the link: staff, unless in development."""
    return settings.STAFF_SECOND_FACTOR and user.is_staff


def expect(request: HttpRequest, *, now: datetime) -> str:
    """This session asks for a link to be mailed, instead of any earlier one. Returns its secret."""
    secret = get_random_string(43)  # 256 bits
    request.session[_ASKED] = [secret, now.timestamp()]
    return secret


def accept(request: HttpRequest, *, user: User, token: str, now: datetime) -> bool:
    """The person opened the link in this session. False if it is not theirs, was opened before, was
    asked for by another browser, or is over."""
    if is_sent_by_colleague(user):
        if is_theirs := EnrolmentTokens().check_token(user, token):
            request.session[_OF_COLLEAGUE] = token
        return is_theirs
    secret, asked_at = request.session.get(_ASKED, ["", 0.0])
    is_late = now.timestamp() - asked_at > OWN_LINK_MINUTES * 60
    if not secret or is_late or not EnrolmentTokens(browser=secret).check_token(user, token):
        return False
    del request.session[_ASKED]
    open_for_a_while(request, now=now)
    return True


def open_for_a_while(request: HttpRequest, *, now: datetime) -> None:
    """The person has just come by a link that was mailed to them: this session may set up a second
    factor within OWN_LINK_MINUTES."""
    until = now + timedelta(minutes=OWN_LINK_MINUTES)
    request.session[_UNTIL] = until.timestamp()


def close(request: HttpRequest) -> None:
    """A factor was set up: should it be removed again, the next one takes another link."""
    for name in (_OF_COLLEAGUE, _ASKED, _UNTIL):
        request.session.pop(name, None)


def needs_link(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """A page on which a factor is added: people without any have come by a link."""

    @functools.wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated or may_enroll(request, user=request.user):
            return view(request, *args, **kwargs)
        # The page of factors says what staff do.
        return redirect("mfa_index" if is_sent_by_colleague(request.user) else "ask_to_enroll")

    return guarded


def may_ask(request: HttpRequest, *, user: User) -> bool:
    """Whether the person may add a second factor, or ask for the link that it takes themselves.
    One query, of staff only."""
    return not is_sent_by_colleague(user) or may_enroll(request, user=user)


def may_enroll(request: HttpRequest, *, user: User) -> bool:
    """Whether this session may add a second factor. One query, unless a link was opened in it."""
    if request.session.get(_UNTIL, 0.0) > utc_now().timestamp() and not is_sent_by_colleague(user):
        return True
    if second_factor.is_set_up(user_id=user.pk):
        return True  # who adds another one has proven the first
    return is_sent_by_colleague(user) and EnrolmentTokens().check_token(
        user, request.session.get(_OF_COLLEAGUE)
    )
