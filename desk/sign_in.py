"""Lets staff into the desk, with a second factor where the deployment asks for one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from tenants import proofs, second_factor
from tenants.sso import connections, reach

View = Callable[..., HttpResponseBase]


def what_is_missing(request: HttpRequest) -> HttpResponse | None:
    """Where to go, for who works for us and may not enter by this session; None if nothing is
    missing."""
    if not reach.is_desk(request):
        return _not_by_this_session(request)
    if has_second_factor(request):
        return None
    if second_factor.is_set_up(user_id=str(request.user.pk)):
        return _to_prove_it(request)
    messages.warning(request, "The desk asks for a second factor, and you have none yet.")
    return redirect("mfa_index")


def of_something(view: View) -> View:
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


def has_second_factor(request: HttpRequest) -> bool:
    """Whether this session proved a second factor, where the deployment asks staff for one."""
    return not settings.STAFF_SECOND_FACTOR or proofs.has_factor(request)
