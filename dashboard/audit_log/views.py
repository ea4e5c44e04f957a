"""Who did what, when, from where. For owners: it tells where people sign in from."""

from __future__ import annotations

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.audit_log.lines import CSV_HEADER, AuditFilter, csv_rows, lines
from dashboard.shell import downloads
from dashboard.shell.access import PageRequest, tenant_download, tenant_page
from dashboard.shell.paging import page
from tenants import selectors
from tenants.models import Role

FILE = "audit-log.csv"


@require_safe
@tenant_page(Role.OWNER)
def audit_log(request: PageRequest) -> HttpResponse:
    tenant_id = request.access.tenant.pk
    rows = selectors.audit_events(tenant_id=tenant_id)
    form = AuditFilter(request.GET, tenant_id=tenant_id)
    found = page(form.narrow(rows), before=request.GET.get("before", ""), unfiltered=rows)
    values = {"lines": lines(found.rows), "page": found, "form": form}
    return render(request, "dashboard/audit_log/list.html", values, status=form.http_status)


@require_safe
@tenant_download(FILE, Role.OWNER, narrowed_by=AuditFilter)
def download(request: PageRequest) -> StreamingHttpResponse:
    """The rows that the page's filters find, as CSV."""
    tenant_id = request.access.tenant.pk
    form = AuditFilter(request.GET, tenant_id=tenant_id)
    rows = form.narrow(selectors.audit_events(tenant_id=tenant_id))
    return downloads.download(FILE, CSV_HEADER, csv_rows(rows.iterator(chunk_size=1000)), at="at")
