"""The first page: where the money stands and what needs attention."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from balance import selectors as ledger
from dashboard import context
from dashboard.access import PageRequest, tenant_page
from dashboard.paging import page

_RECENT = 8


@require_safe
@tenant_page()
def overview(request: PageRequest) -> HttpResponse:
    """The whole page, or for htmx only its live part."""
    tenant_id = request.seat.tenant.pk
    recent = page(ledger.transactions(tenant_id), before="", keys=("sequence",), size=_RECENT)
    values = {
        "funds": ledger.summary(tenant_id),
        "recent": [context.transaction_line(row) for row in recent.rows],
    }
    template = "dashboard/_overview_live.html" if request.htmx else "dashboard/overview.html"
    return render(request, template, values)
