"""One tenant: the file, suspension, limits."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from common.clock import utc_now
from desk.access import actor_of, desk_page, desk_render
from desk.forms import LimitsForm, ReasonForm
from desk.tenants.file import limit_lines, tenant_file
from funding.services import tenant_limits
from tenants import selectors
from tenants.services import accounts

SEE = "tenants.view_tenant"
SUSPEND = "tenants.change_tenant"
SET_LIMITS = "funding.change_fundinglimit"


@require_safe
@desk_page(SEE)
def tenant(request: HttpRequest, tenant_id: str) -> HttpResponse:
    """Everything about one tenant, with links."""
    file = tenant_file(tenant_id=tenant_id, now=utc_now())
    return desk_render(request, "desk/tenants/file.html", title=file.tenant.name, file=file)


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, SUSPEND)
def suspend(request: HttpRequest, tenant_id: str) -> HttpResponse:
    """Ask for a reason, then suspend the tenant."""
    subject, form = selectors.found_tenant(tenant_id), ReasonForm(request.POST or None)
    if form.is_valid():
        accounts.suspend(
            tenant_id=tenant_id,
            reason=form.cleaned_data["reason"],
            actor=actor_of(request),
            now=utc_now(),
        )
        messages.success(request, f"{subject} is suspended.")
        return redirect("desk:tenant", tenant_id)
    title = f"Suspend {subject}"
    return desk_render(request, "desk/tenants/suspend.html", title=title, tenant=subject, form=form)


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, SUSPEND)
def release(request: HttpRequest, tenant_id: str) -> HttpResponse:
    """Ask for a reason, then lift the suspension."""
    subject, form = selectors.found_tenant(tenant_id), ReasonForm(request.POST or None)
    if form.is_valid():
        accounts.release(
            tenant_id=tenant_id,
            reason=form.cleaned_data["reason"],
            actor=actor_of(request),
            now=utc_now(),
        )
        messages.success(request, f"{subject} is released.")
        return redirect("desk:tenant", tenant_id)
    title = f"Release {subject}"
    return desk_render(request, "desk/tenants/release.html", title=title, tenant=subject, form=form)


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, SET_LIMITS)
def limits(request: HttpRequest, tenant_id: str) -> HttpResponse:
    """The tenant's own limits in place of the deployment's."""
    subject, now = selectors.found_tenant(tenant_id), utc_now()
    known = tenant_limits.of(tenant_id)._asdict()
    form = LimitsForm(request.POST or None, initial=known)
    if form.is_valid():
        changed = tenant_limits.change(
            tenant_id=tenant_id,
            limits=form.limits,
            reason=form.cleaned_data["reason"],
            actor=actor_of(request),
            now=now,
        )
        messages.success(request, "Limits changed." if changed else "Nothing to change.")
        return redirect("desk:tenant", tenant_id)
    lines = limit_lines(tenant_id=tenant_id, now=now)
    title = f"Limits of {subject}"
    return desk_render(
        request, "desk/tenants/limits.html", title=title, tenant=subject, form=form, lines=lines
    )
