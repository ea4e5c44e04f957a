"""Lets staff into the desk, with a second factor where the deployment asks for one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from allauth.account.decorators import secure_admin_login
from django.conf import settings
from django.contrib import messages
from django.contrib.admin import AdminSite
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from dashboard.shell import step_up
from tenants import proofs, second_factor
from tenants.sso import connections, reach

View = Callable[..., HttpResponseBase]


def guard(site: AdminSite) -> None:
    """Put the common sign-in and the second factor in front of `site`. Staff change their password
    where everybody does, too."""
    login = secure_admin_login(site.login)
    may_enter, admin_view = site.has_permission, site.admin_view

    def has_permission(request: HttpRequest) -> bool:
        return may_enter(request) and reach.is_desk(request) and _has_second_factor(request)

    def enter(request: HttpRequest, extra_context: object = None) -> HttpResponse:
        if may_enter(request) and not reach.is_desk(request):
            return _not_by_this_session(request)
        if may_enter(request) and not _has_second_factor(request):
            if second_factor.is_set_up(user_id=str(request.user.pk)):
                return _to_prove_it(request)
            messages.warning(request, "The desk asks for a second factor, and you have none yet.")
            return redirect("mfa_index")
        answer: HttpResponse = login(request, extra_context)
        return answer

    def change_password(request: HttpRequest, extra_context: object = None) -> HttpResponse:
        return redirect("account_change_password")

    def page(view: View, cacheable: bool = False) -> View:
        """Whoever changes something has proven a moment ago who they are; not to sign out."""
        is_way_out = view == site.logout
        proven = view if is_way_out else step_up.needs_proof(view)
        return admin_view(_of_something(proven), cacheable)

    site.has_permission = has_permission  # type: ignore[method-assign]
    site.admin_view = page  # type: ignore[method-assign,assignment]
    site.login = enter  # type: ignore[method-assign]
    site.password_change = change_password  # type: ignore[method-assign,assignment]


def _of_something(view: View) -> View:
    """Not found with a NUL in the address: PostgreSQL takes it in no id."""

    @functools.wraps(view)
    def named(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if any("\0" in str(value) for value in kwargs.values()):
            raise Http404
        return view(request, *args, **kwargs)

    return named


def _to_prove_it(request: HttpRequest) -> HttpResponse:
    """Ask for the second factor that the person has, then go on to where they wanted to be."""
    return redirect_to_login(_wanted(request), reverse("mfa_reauthenticate"))


def _wanted(request: HttpRequest) -> str:
    return request.GET.get(REDIRECT_FIELD_NAME, reverse("admin:index"))


def _not_by_this_session(request: HttpRequest) -> HttpResponse:
    """Lead to our own provider, or tell who was signed in by a tenant's that it opens no desk."""
    connection = connections.of_staff()
    if connection is not None and connection.speaks_for(request.user.email):  # type: ignore[union-attr]  # signed in
        values = {"connection": connection, "next": _wanted(request)}
        return render(request, "dashboard/shell/sso_needed.html", values, status=403)
    text = "You signed in by your organization, which does not open the desk. Sign out first."
    return render(request, "account/sso_refused.html", {"text": text}, status=403)


def _has_second_factor(request: HttpRequest) -> bool:
    """Whether this session proved a second factor, where the deployment asks staff for one."""
    return not settings.STAFF_SECOND_FACTOR or proofs.has_factor(request)
