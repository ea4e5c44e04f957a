"""Money coming in: every attempt and where it stands."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard import context
from dashboard.access import PageRequest, tenant_page
from dashboard.paging import page
from funding import selectors


@require_safe
@tenant_page()
def funding(request: PageRequest) -> HttpResponse:
    rows = selectors.attempts(tenant_id=request.seat.tenant.pk)
    found = page(rows, before=request.GET.get("before", ""))
    lines = [context.funding_line(row) for row in found.rows]
    return render(request, "dashboard/funding.html", {"lines": lines, "page": found})
