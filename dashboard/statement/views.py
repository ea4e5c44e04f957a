"""The statement: every change of the balance, and the months it is made of."""

from __future__ import annotations

from datetime import date
from typing import Any

from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponsePermanentRedirect,
    HttpResponseRedirect,
    StreamingHttpResponse,
)
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from balance import selectors as ledger
from balance import statements
from common.clock import utc_now
from common.days import day_of
from dashboard.shell import downloads, stops
from dashboard.shell.access import PageRequest, tenant_download, tenant_page
from dashboard.shell.paging import Page, page
from dashboard.statement import chips, month_page, movement_lines
from dashboard.statement import lines as statement_lines
from dashboard.statement.by_day import by_day
from dashboard.statement.chips import LEDGER
from dashboard.statement.filters import MovementFilter, TransactionFilter
from solvency import inclusion

FILE = "balance-transactions.csv"
PROOFS_SHOWN = 10


@require_safe
@tenant_page()
def transactions(request: PageRequest) -> HttpResponse:
    """Movements of money, or each line of the ledger; newest first, narrowed by what stands in the
    address."""
    if request.GET.get("view") == LEDGER:
        return _ledger_lines(request)
    form, tenant, now = MovementFilter(request.GET), request.access.tenant, utc_now()
    found = form.page(tenant_id=tenant.pk, before=request.GET.get("before", ""))
    shown = movement_lines.as_of_now(tenant_id=tenant.pk, rows=found.rows, stopped=stops.of(tenant))
    return _listed(request, form, found, {"days": by_day(shown, today=day_of(now))}, view="")


def _ledger_lines(request: PageRequest) -> HttpResponse:
    form, tenant_id = TransactionFilter(request.GET), request.access.tenant.pk
    rows = form.rows(tenant_id=tenant_id)
    found = page(rows, before=request.GET.get("before", ""), keys=("sequence",))
    shown = statement_lines.lines(tenant_id=tenant_id, rows=found.rows)
    return _listed(request, form, found, {"lines": shown}, view=LEDGER)


def _listed(
    request: PageRequest,
    form: MovementFilter | TransactionFilter,
    found: Page,
    rows: dict[str, Any],
    *,
    view: str,
) -> HttpResponse:
    values = {
        "form": form,
        "page": found,
        "view": view,
        "query": chips.query(form, view=view),
        "other_view": chips.other_view(form, view=view),
        "chips": chips.chips(form, view=view, today=day_of(utc_now())),
        **rows,
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
    """The months, and the newest proofs of funds that have the tenant's balance."""
    tenant_id = request.access.tenant.pk
    values = {
        "months": statements.months(tenant_id=tenant_id, now=utc_now()),
        "proofs": inclusion.leaves(tenant_id)[:PROOFS_SHOWN],
    }
    return render(request, "dashboard/statement/months.html", values)


@require_safe
@tenant_page()
def statement(request: PageRequest, first: date) -> HttpResponse:
    """One month, made to be printed: by movements, or each line of the ledger."""
    tenant_id, now = request.access.tenant.pk, utc_now()
    found = statements.statement(tenant_id=tenant_id, first=first, now=now)
    view = LEDGER if request.GET.get("view") == LEDGER else ""
    read = month_page.of_lines if view else month_page.of_movements
    shown = read(tenant_id=tenant_id, month=found.month, after=request.GET.get("after", ""))
    values = {
        "statement": found,
        "month": found.month,
        "is_running": found.month.is_running(now),
        "view": view,
        "page": shown,
        "printed_at": now,
        **_rows_of(tenant_id, shown.rows, view),
    }
    return render(request, "dashboard/statement/month.html", values)


@require_safe
def former_address(
    request: HttpRequest, year: int, month: int
) -> HttpResponseRedirect | HttpResponsePermanentRedirect:
    """Lead from `2026-9`, which people have among their bookmarks, to `2026-09`."""
    try:
        first = date(year, month, 1)
    except ValueError as error:
        raise Http404 from error
    query = f"?{request.GET.urlencode()}" if request.GET else ""
    return redirect(reverse("dashboard:statement", args=(first,)) + query, permanent=True)


def _rows_of(tenant_id: str, rows: list[Any], view: str) -> dict[str, Any]:
    if view:
        return {"lines": statement_lines.lines(tenant_id=tenant_id, rows=rows)}
    return {"days": by_day(movement_lines.as_booked(tenant_id=tenant_id, rows=rows))}
