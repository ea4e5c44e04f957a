"""Keys of the REST API: only owners hand them out and end them."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_safe

from common.clock import utc_now
from common.errors import DomainError
from dashboard import refusals
from dashboard.access import PageRequest, tenant_form, tenant_page
from dashboard.api_keys import ApiKeyForm, key_line
from dashboard.paging import page
from tenants import actors, selectors
from tenants.models import Role
from tenants.services import keys


@require_safe
@tenant_page(Role.OWNER, Role.MEMBER)
def api_keys(request: PageRequest) -> HttpResponse:
    rows = selectors.api_keys(tenant_id=request.seat.tenant.pk)
    found = page(rows, before=request.GET.get("before", ""))
    now = utc_now()
    values = {
        "lines": [key_line(row, now=now) for row in found.rows],
        "page": found,
        "may_manage": request.seat.role == Role.OWNER,
    }
    return render(request, "dashboard/api_keys.html", values)


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(Role.OWNER)
@sensitive_variables()
def issue(request: PageRequest) -> HttpResponse:
    """A form; then the key, on this answer alone. It is neither stored nor redirected to."""
    form = ApiKeyForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            issued = keys.issue(
                tenant=request.seat.tenant,
                actor=actors.user(request.user.pk),
                now=utc_now(),
                **form.cleaned_data,
            )
            return render(request, "dashboard/api_key_issued.html", {"issued": issued})
        except DomainError as refusal:
            refusals.add_to(form, refusal, fields={})
    status = 422 if form.errors else 200
    return render(request, "dashboard/api_key_issue.html", {"form": form}, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(Role.OWNER)
def revoke(request: PageRequest, key_id: str) -> HttpResponse:
    """GET asks, POST ends the key at once."""
    key = selectors.api_key(tenant_id=request.seat.tenant.pk, key_id=key_id)
    if request.method != "POST":
        return render(request, "dashboard/api_key_revoke.html", {"key": key})
    keys.revoke(key_id=key.pk, actor=actors.user(request.user.pk), now=utc_now())
    messages.success(request, f"{key.name} is revoked.")
    return redirect("dashboard:api_keys")
