"""The statement: every change of the balance."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from balance import selectors as ledger
from dashboard import context
from dashboard.access import PageRequest, tenant_page
from dashboard.paging import page


@require_safe
@tenant_page()
def transactions(request: PageRequest) -> HttpResponse:
    rows = ledger.transactions(request.seat.tenant.pk)
    found = page(rows, before=request.GET.get("before", ""), keys=("sequence",))
    lines = [context.transaction_line(row) for row in found.rows]
    return render(request, "dashboard/transactions.html", {"lines": lines, "page": found})
