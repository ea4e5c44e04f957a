"""The request log: what a tenant's own programs asked the API, and what it answered."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from api import request_log
from dashboard.developers.requests.lines import RequestFilter, request_line
from dashboard.shell.access import PageRequest, tenant_page
from dashboard.shell.paging import page
from tenants import selectors as tenants

# Enough for every key that is in use (20) and those it replaced.
_KEYS_OFFERED = 100


@require_safe
@tenant_page()
def requests(request: PageRequest) -> HttpResponse:
    """Every call that is kept, newest first, narrowed by what stands in the address."""
    tenant_id = request.access.tenant.pk
    rows = request_log.requests(tenant_id=tenant_id)
    form = RequestFilter(request.GET, keys=tenants.api_keys(tenant_id=tenant_id)[:_KEYS_OFFERED])
    found = page(form.narrow(rows), before=request.GET.get("before", ""), unfiltered=rows)
    values = {
        "lines": [request_line(row) for row in found.rows],
        "page": found,
        "form": form,
        "days": settings.REQUEST_LOG_DAYS,
    }
    return render(
        request, "dashboard/developers/requests/list.html", values, status=form.http_status
    )


@require_safe
@tenant_page()
def request_detail(request: PageRequest, request_pk: str) -> HttpResponse:
    row = request_log.request(tenant_id=request.access.tenant.pk, pk=request_pk)
    return render(request, "dashboard/developers/requests/detail.html", {"line": request_line(row)})
