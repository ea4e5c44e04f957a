"""Which browsers a person has signed in with: told by a signed cookie, so that no table grows.

A browser that is known has a limit of its own on wrong passwords, which nobody else uses up. The
first sign-in with any other one is mailed to the person.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import get_random_string

PEOPLE_MAX = 8  # who share a browser
_SALT = "tenants.devices"
_AGE = 365 * 24 * 60 * 60  # seconds


def id_of(request: HttpRequest, *, email: str) -> str | None:
    """The id of this browser, if the person with this address signed in with it within a year."""
    told = _read(request)
    return told["id"] if email.lower() in told["people"] else None


def remember(request: HttpRequest, response: HttpResponse, *, email: str) -> None:
    """The person signed in: let the browser say so from now on."""
    told = _read(request)
    people = [email.lower(), *(one for one in told["people"] if one != email.lower())]
    response.set_cookie(
        settings.DEVICE_COOKIE_NAME,
        signing.dumps({"id": told["id"], "people": people[:PEOPLE_MAX]}, salt=_SALT),
        max_age=_AGE,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _read(request: HttpRequest) -> dict[str, Any]:
    try:
        told: dict[str, Any] = signing.loads(
            request.COOKIES.get(settings.DEVICE_COOKIE_NAME, ""), salt=_SALT, max_age=_AGE
        )
    except signing.BadSignature:
        return {"id": get_random_string(22), "people": []}
    return told
