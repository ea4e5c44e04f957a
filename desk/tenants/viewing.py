"""Look at the dashboard as a tenant sees it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from common.clock import utc_now
from dashboard.shell import staff_view
from desk.access import desk_page, desk_render
from desk.forms import ReasonForm
from tenants import selectors
from tenants.services.staff_views import LASTS


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page("tenants.view_tenant", staff_view.MAY_VIEW)
def view_as(request: HttpRequest, tenant_id: str) -> HttpResponse:
    """Ask why, then lead to the tenant's overview."""
    subject, form = selectors.found_tenant(tenant_id), ReasonForm(request.POST or None)
    if form.is_valid():
        reason = form.cleaned_data["reason"]
        staff_view.begin(request, tenant=subject, reason=reason, now=utc_now())
        return redirect("dashboard:overview")
    return desk_render(
        request,
        "desk/tenants/view_as.html",
        title=f"View as {subject}",
        tenant=subject,
        form=form,
        minutes=int(LASTS.total_seconds() // 60),
    )


@require_POST
@desk_page()
def stop(request: HttpRequest) -> HttpResponse:
    """Stop looking as the tenant, and go back to the desk."""
    tenant_id = staff_view.end(request, now=utc_now())
    if tenant_id is None:
        return redirect("admin:index")
    messages.success(request, "You no longer look at the tenant's dashboard.")
    return redirect("desk:tenant", tenant_id)
