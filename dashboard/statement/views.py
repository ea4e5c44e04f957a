"""The statement: every change of the balance, and the months it is made of."""

from __future__ import annotations

from datetime import date

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from balance import selectors as ledger
from balance import statements
from common.clock import utc_now
from dashboard.shell import downloads
from dashboard.shell.access import PageRequest, tenant_download, tenant_page
from dashboard.shell.paging import page
from dashboard.statement import lines as statement_lines
from dashboard.statement.filters import TransactionFilter

FILE = "balance-transactions.csv"


@require_safe
@tenant_page()
def transactions(request: PageRequest) -> HttpResponse:
    """Newest first, narrowed by what stands in the address."""
    tenant_id = request.access.tenant.pk
    form = TransactionFilter(request.GET)
    rows = form.rows(tenant_id=tenant_id)
    found = page(rows, before=request.GET.get("before", ""), keys=("sequence",))
    values = {
        "form": form,
        "lines": statement_lines.lines(tenant_id=tenant_id, rows=found.rows),
        "page": found,
    }
    return render(request, "dashboard/statement/transactions.html", values, status=form.http_status)


@require_safe
@tenant_download(FILE, narrowed_by=TransactionFilter)
def download(request: PageRequest) -> StreamingHttpResponse:
    """All lines of the filter as a CSV file: the API's columns, what each is for, its Eastern
    date."""
    tenant_id = request.access.tenant.pk
    rows = TransactionFilter(request.GET).rows(tenant_id=tenant_id)
    return downloads.download(
        FILE,
        statement_lines.CSV_HEADER,
        statement_lines.csv_rows(tenant_id=tenant_id, rows=ledger.newest_first(rows)),
    )


@require_safe
@tenant_page()
def months(request: PageRequest) -> HttpResponse:
    found = statements.months(tenant_id=request.access.tenant.pk, now=utc_now())
    return render(request, "dashboard/statement/months.html", {"months": found})


@require_safe
@tenant_page()
def statement(request: PageRequest, year: int, month: int) -> HttpResponse:
    """One month, made to be printed."""
    try:
        first = date(year, month, 1)
    except ValueError as error:
        raise Http404 from error
    tenant_id, now = request.access.tenant.pk, utc_now()
    found = statements.statement(tenant_id=tenant_id, first=first, now=now)
    values = {
        "statement": found,
        "month": found.month,
        "lines": statement_lines.lines(tenant_id=tenant_id, rows=found.rows or ()),
        "printed_at": now,
    }
    return render(request, "dashboard/statement/month.html", values)
