"""Headers for browsers that every answer has, whoever made it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.signals import user_logged_out
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse

# No page of ours asks for any of these, so no script that got in may.
PERMISSIONS_POLICY = ", ".join(
    f"{feature}=()"
    for feature in (
        *("accelerometer", "camera", "display-capture", "geolocation", "gyroscope"),
        *("magnetometer", "microphone", "midi", "payment", "serial", "usb"),
    )
)
# Of answers for programs, should a browser show one.
NO_CONTENT = "default-src 'none'; frame-ancestors 'none'"
_SIGNED_OUT = "ballast.signed_out"


@receiver(user_logged_out)
def _note_signing_out(request: HttpRequest, **_others: Any) -> None:
    request.META[_SIGNED_OUT] = True


class SafeHeaders:
    """Adds Permissions-Policy, a policy for what is no page, and Clear-Site-Data when a session
    ends.

    Only storage is cleared: cookies are the whole domain's, also those of other products on it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers["Permissions-Policy"] = PERMISSIONS_POLICY
        is_for_programs = request.path_info.startswith("/api/v1/")
        if is_for_programs or "json" in response.headers.get("Content-Type", ""):
            response.headers.setdefault("Content-Security-Policy", NO_CONTENT)
        if _SIGNED_OUT in request.META:
            response.headers["Clear-Site-Data"] = '"storage"'
        return response
