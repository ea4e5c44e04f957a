"""The ledger as a whole: its checks, and the journal as a file."""

from __future__ import annotations

from datetime import timedelta

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from api.downloads import csv_download
from balance import check_requests, exports, figures, rolling
from common.clock import utc_now
from common.days import day_of, start_of
from dashboard.shell import pace
from desk.access import actor_of, desk_page, desk_render
from desk.forms import ExportForm
from desk.ledger.checks import check_line, proof_line
from desk.ledger.seals import seal_line

CHECKS_SHOWN = 12
SEE = "balance.view_ledgercheck"
RUN = "balance.run_check"
EXPORT = "balance.export_journal"


@require_safe
@desk_page(SEE)
def ledger(request: HttpRequest) -> HttpResponse:
    """Totals, the last checks, and the forms to start one and to take the journal."""
    yesterday = day_of(utc_now()) - timedelta(days=1)
    form = ExportForm(initial={"first": yesterday.replace(day=1), "last": yesterday})
    return _page(request, form)


@require_POST
@desk_page(SEE, RUN)
def check(request: HttpRequest) -> HttpResponse:
    """Ask a worker for a check."""
    is_full = request.POST.get("kind") == "full"
    check_requests.request(full=is_full, actor=actor_of(request), now=utc_now())
    messages.success(request, "Asked for. It shows up here as soon as a worker begins.")
    return redirect("desk:ledger")


@require_POST
@desk_page(SEE, EXPORT, limit=pace.FILES)
def export(request: HttpRequest) -> HttpResponseBase:
    """The journal of some days, written while it is sent."""
    form = ExportForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    first, last = form.cleaned_data["first"], form.cleaned_data["last"]
    rows = exports.export(
        tenant_id=form.cleaned_data["tenant"] or None,
        since=start_of(first),
        until=start_of(last + timedelta(days=1)),
        actor=actor_of(request),
        now=utc_now(),
    )
    return csv_download(f"journal-{first}-{last}.csv", exports.HEADER, rows)


def _page(request: HttpRequest, form: ExportForm, *, status: int = 200) -> HttpResponse:
    now = utc_now()
    checks = [check_line(run, run.started_at) for run in figures.last_checks(limit=CHECKS_SHOWN)]
    return desk_render(
        request,
        "desk/ledger/page.html",
        title="Ledger",
        status=status,
        totals=figures.totals(),
        latest=check_line(figures.last_check(), now),
        oldest_proof=proof_line(rolling.oldest_proof(), now),
        checks=checks,
        seals=seal_line(now),
        form=form,
    )
