"""Proofs of funds: the list of days, one report, and its file."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from balance.operator.accounts import OperatorAccount
from balance.operator.totals import OperatorTotal
from common.clock import utc_now
from dashboard.shell import paging
from desk.access import desk_page, desk_render
from reconciliation import unproven
from solvency import inclusion, reports
from solvency.models import ProofReport

SEE = "solvency.view_proofreport"
SHOWN = 50
FILE = "proof-of-funds-{day}.json"


@require_safe
@desk_page(SEE)
def proofs(request: HttpRequest) -> HttpResponse:
    """All reports, the newest first; and what the next one waits for."""
    before = request.GET.get("before", "")
    page = paging.page(ProofReport.objects.all(), before=before, keys=("day", "id"), size=SHOWN)
    return desk_render(
        request,
        "desk/proofs/list.html",
        title="Proofs of funds",
        page=page,
        late_days=unproven.late_days(now=utc_now()) if page.is_newest else [],
        obstacles=list(unproven.obstacles(now=utc_now())) if page.is_newest else [],
        lines=[(row, reports.figures_of(reports.parsed(row))) for row in page.rows],
    )


@require_safe
@desk_page(SEE)
def proof(request: HttpRequest, day: str) -> HttpResponse:
    """One report in words, made to be printed."""
    row = reports.of_day(inclusion.day_of(day))
    said = reports.parsed(row)
    figures = reports.figures_of(said)
    return desk_render(
        request,
        "desk/proofs/page.html",
        title=f"Proof of funds, {row}",
        report=row,
        said=said,
        figures=figures,
        accounts=[(account, -account.own_funds) for account in figures.accounts],
        others=[
            (_name(total), total.credit - total.debit, total.account == OperatorAccount.SUSPENSE)
            for total in figures.others
        ],
    )


@require_safe
@desk_page(SEE)
def download(_request: HttpRequest, day: str) -> JsonResponse:
    """The signed report as `docs/verify_proof.py` reads it."""
    name = FILE.format(day=day)
    return JsonResponse(
        reports.signed(reports.of_day(inclusion.day_of(day))),
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _name(total: OperatorTotal) -> str:
    """The account in words, and its rail."""
    return " ".join([total.account.label, *filter(None, [total.rail])])
