"""Where money may be asked from."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard import context
from dashboard.access import PageRequest, tenant_page
from funding import selectors
from funding.states import SourceStatus


@require_safe
@tenant_page()
def bank_accounts(request: PageRequest) -> HttpResponse:
    """At most twenty, so without pages; removed ones are left out."""
    rows = selectors.sources(tenant_id=request.seat.tenant.pk)
    kept = rows.exclude(status=SourceStatus.REMOVED).order_by("-is_default", "-created_at")
    lines = [context.bank_account_line(row) for row in kept]
    return render(request, "dashboard/bank_accounts.html", {"lines": lines})
