"""The front door and small things browsers ask for."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.templatetags.static import static
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import PageRequest, choose_tenant, tenant_page


@require_safe
def front_door(_request: HttpRequest) -> HttpResponse:
    return redirect("dashboard:overview")


@require_safe
def favicon(_request: HttpRequest) -> HttpResponse:
    """For clients that ask for the old address; pages name the file themselves."""
    return redirect(static("img/favicon.svg"))


def not_offered(_request: HttpRequest) -> HttpResponse:
    """For a page that a package brings and we do not want."""
    raise Http404


@require_POST
@tenant_page()
def switch_tenant(request: PageRequest) -> HttpResponse:
    """Look at another of the person's tenants."""
    choose_tenant(request, request.POST.get("tenant", ""))
    return redirect("dashboard:overview")
