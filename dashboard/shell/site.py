"""The front door and small things browsers ask for."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.templatetags.static import static
from django.urls import resolve
from django.views.decorators.http import require_POST, require_safe
from django.views.defaults import page_not_found

from dashboard.shell.access import PageRequest, choose_tenant, tenant_page


@require_safe
def front_door(_request: HttpRequest) -> HttpResponse:
    return redirect("dashboard:overview")


@require_safe
def favicon(_request: HttpRequest) -> HttpResponse:
    """For clients that ask for the old address; pages name the file themselves."""
    return redirect(static("img/favicon.svg"))


def not_offered(_request: HttpRequest) -> HttpResponse:
    """Answer 404 for a page that a package brings and we do not offer."""
    raise Http404


@require_POST
@tenant_page(is_open=True)
def switch_tenant(request: PageRequest) -> HttpResponse:
    """Look at another of the person's tenants."""
    choose_tenant(request, request.POST.get("tenant", ""))
    return redirect("dashboard:overview")


def unknown_page(request: HttpRequest) -> HttpResponse:
    """Every address that is no page: our own 404 in development, too, or the one with a slash."""
    with_slash = f"{request.path_info}/"
    if not request.path_info.endswith("/") and resolve(with_slash).func is not unknown_page:
        return redirect(with_slash, permanent=True)
    return page_not_found(request, Http404())
