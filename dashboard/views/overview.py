"""The first page: where the money stands and what needs attention."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from balance import selectors as ledger
from common.clock import utc_now
from dashboard import auto_funding, context
from dashboard.access import PageRequest, tenant_page
from dashboard.paging import page
from funding import selectors as funding

_RECENT = 8


@require_safe
@tenant_page()
def overview(request: PageRequest) -> HttpResponse:
    """The whole page, or for htmx only its live part."""
    tenant_id, now = request.seat.tenant.pk, utc_now()
    recent = page(ledger.transactions(tenant_id), before="", keys=("sequence",), size=_RECENT)
    values = {
        "funds": ledger.summary(tenant_id),
        "recent": [context.transaction_line(row) for row in recent.rows],
        "in_flight": [
            context.funding_line(row) for row in funding.in_flight(tenant_id=tenant_id)[:_RECENT]
        ],
        "auto_funding": auto_funding.state(
            funding.auto_funding(tenant_id=tenant_id, now=now).config, now=now
        ),
    }
    template = "dashboard/_overview_live.html" if request.htmx else "dashboard/overview.html"
    return render(request, template, values)
