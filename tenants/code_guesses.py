"""How many codes may be guessed, so that the guesser is kept out and not the person.

Somebody who guesses codes knows the password. A browser that the person signed in with within a
year has counts of its own, which nobody else uses up; all others share the slow one of the account.
"""

from __future__ import annotations

from collections.abc import Callable

from allauth.account.adapter import get_adapter
from allauth.core.internal import ratelimit
from django.http import HttpRequest

from tenants import devices
from tenants.models import User

_APP = "allauth.account"  # whose setting has the limits


def count(request: HttpRequest, *, user: User) -> Callable[[], None]:
    """Count a code that was typed for this person. Returns what takes it back, for a right one.

    Raises ValidationError where too many were wrong: from this address, or in this browser if it is
    known, a few within minutes; in this browser, or in all that are not known, many in a day.
    """
    device = devices.id_of(request, email=user.email)
    here = f"{user.pk}:{device or get_adapter().get_client_ip(request)}"
    counted: list[ratelimit.RateLimitUsage] = []

    def take_back() -> None:
        for usage in counted:
            usage.rollback()

    bounds = (("login_failed", f"code:{here}"), ("second_factor", here if device else user.pk))
    for action, key in bounds:
        usage = ratelimit.consume(request, app=_APP, action=action, key=key)
        if usage is None:
            take_back()
            raise get_adapter().validation_error("too_many_login_attempts")
        counted.append(usage)
    return take_back
