"""Who may see a page: signed in, a member of the tenant, in one of the roles."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django_htmx.http import HttpResponseClientRefresh
from django_htmx.middleware import HtmxDetails

from tenants import selectors
from tenants.models import Membership, Role, Tenant, User

_SESSION_KEY = "tenant_id"


@dataclass(frozen=True)
class Seat:
    """Which tenant a person looks at, what they may do there, and where else they belong."""

    tenant: Tenant
    role: Role
    memberships: tuple[Membership, ...]

    @property
    def role_label(self) -> str:
        return self.role.label


class PageRequest(HttpRequest):
    """A request that passed `tenant_page`."""

    user: User
    htmx: HtmxDetails
    seat: Seat


View = Callable[..., HttpResponse]


def tenant_page(*roles: Role) -> Callable[[View], View]:
    """A page about the current tenant, for members in `roles` (any role when none is named).

    Strangers are sent to sign in; a role that may not is answered 403. Never cached.
    """

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def wrapper(request: PageRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not request.user.is_authenticated:
                return _to_login(request)
            seat = _seat_of(request)
            if seat is None:
                return _without_tenant(request)
            if roles and seat.role not in roles:
                raise PermissionDenied(_wrong_role(seat, roles))
            if request.htmx and request.headers.get("X-Tenant") != seat.tenant.pk:
                return HttpResponseClientRefresh()  # another window has switched tenants
            request.seat = seat
            return _private(view(request, *args, **kwargs))

        return wrapper

    return decorate


def choose_tenant(request: PageRequest, tenant_id: str) -> None:
    """Make one of the person's tenants the current one. Raises PermissionDenied."""
    if tenant_id not in {membership.tenant_id for membership in request.seat.memberships}:
        raise PermissionDenied("You are not a member of that tenant.")
    request.session[_SESSION_KEY] = tenant_id


def _seat_of(request: PageRequest) -> Seat | None:
    memberships = tuple(selectors.memberships(user_id=request.user.pk))
    if not memberships:
        return None
    chosen = request.session.get(_SESSION_KEY)
    current = next((m for m in memberships if m.tenant_id == chosen), memberships[0])
    return Seat(tenant=current.tenant, role=Role(current.role), memberships=memberships)


def _to_login(request: PageRequest) -> HttpResponse:
    if request.htmx:
        return HttpResponseClientRefresh()
    return redirect_to_login(request.get_full_path())


def _without_tenant(request: PageRequest) -> HttpResponse | HttpResponseRedirect:
    if request.user.is_staff:
        return redirect("admin:index")
    return render(request, "dashboard/no_tenant.html", status=403)


def _wrong_role(seat: Seat, roles: tuple[Role, ...]) -> str:
    allowed = " or ".join(role.label.lower() for role in roles)
    return f"You are {seat.role_label.lower()} of {seat.tenant.name}; this needs {allowed}."


def _private(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "private, no-store"
    patch_vary_headers(response, ("Cookie", "HX-Request"))
    return response
