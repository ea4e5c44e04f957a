"""The statement of a month as a file to keep."""

from __future__ import annotations

from datetime import date

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from balance import statements
from common.clock import utc_now
from dashboard.shell.access import PageRequest, tenant_download
from dashboard.statement.pdf.content import content, text_bytes
from dashboard.statement.pdf.responses import StatementFile

FILE = "statement-{first:%Y-%m}.pdf"
# So many take at most 4.5 seconds of CPU, 380 MB and 140 pages. More is for the CSV file.
LINES_MAX = 2_000
TEXT_BYTES_MAX = 250_000  # of all lines: 125 Latin letters in each of 2,000


@require_GET  # HEAD would make the file, and is in no audit log
@tenant_download(FILE)
def download(request: PageRequest, first: date) -> HttpResponse:
    """All lines of the month as PDF/UA, or a page that says that they are too much for it."""
    tenant, now = request.access.tenant, utc_now()
    found = statements.statement(tenant_id=tenant.pk, first=first, now=now)
    if found.month.lines > LINES_MAX:
        return _too_long(request, found.month, lines_max=LINES_MAX)
    rows = statements.lines(tenant_id=tenant.pk, month=found.month)
    shown = content(found, rows, tenant=tenant, now=now)
    if text_bytes(shown) > TEXT_BYTES_MAX:
        return _too_long(request, found.month)
    return StatementFile(FILE.format(first=first), shown, user_id=request.user.pk, at=now)


def _too_long(
    request: PageRequest, month: statements.Month, *, lines_max: int | None = None
) -> HttpResponse:
    values = {"month": month, "lines_max": lines_max}
    return render(request, "dashboard/statement/too_long.html", values, status=422)
