"""Lets staff into the desk, with a second factor where the deployment asks for one."""

from __future__ import annotations

from allauth.account.decorators import secure_admin_login
from django.conf import settings
from django.contrib import messages
from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from tenants import second_factor


def guard(site: AdminSite) -> None:
    """Put the common sign-in and the second factor in front of `site`."""
    login = secure_admin_login(site.login)
    may_enter = site.has_permission

    def has_permission(request: HttpRequest) -> bool:
        return may_enter(request) and _has_second_factor(request)

    def enter(request: HttpRequest, extra_context: object = None) -> HttpResponse:
        if may_enter(request) and not _has_second_factor(request):
            messages.warning(request, "Staff sign in with a second factor. Set one up first.")
            return redirect("mfa_index")
        answer: HttpResponse = login(request, extra_context)
        return answer

    site.has_permission = has_permission  # type: ignore[method-assign]
    site.login = enter  # type: ignore[method-assign]


def _has_second_factor(request: HttpRequest) -> bool:
    """Whether the person has a second factor. One query, or none where nobody asks for it."""
    if not settings.STAFF_SECOND_FACTOR:
        return True
    if not hasattr(request, "has_second_factor"):
        known = second_factor.is_set_up(user_id=str(request.user.pk))
        request.has_second_factor = known  # type: ignore[attr-defined]
    return bool(request.has_second_factor)  # type: ignore[attr-defined]
