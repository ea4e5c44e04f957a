"""The statement of a month as a file to keep."""

from __future__ import annotations

from datetime import date

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from balance import statements
from common.clock import utc_now
from dashboard.shell.access import PageRequest, tenant_download
from dashboard.statement.pdf.content import content
from dashboard.statement.pdf.responses import StatementFile

FILE = "statement-{first:%Y-%m}.pdf"
# So many take about 2.5 seconds of CPU, 300 MB and 135 pages. A longer month is for the CSV file.
LINES_MAX = 2_000


@require_GET  # HEAD would make the file, and is in no audit log
@tenant_download(FILE)
def download(request: PageRequest, first: date) -> HttpResponse:
    """All lines of the month as PDF/UA, or a page that says that there are too many."""
    tenant, now = request.access.tenant, utc_now()
    found = statements.statement(tenant_id=tenant.pk, first=first, now=now)
    if found.month.lines > LINES_MAX:
        values = {"month": found.month, "lines_max": LINES_MAX}
        return render(request, "dashboard/statement/too_long.html", values, status=422)
    rows = statements.lines(tenant_id=tenant.pk, month=found.month)
    shown = content(found, rows, tenant=tenant, now=now)
    return StatementFile(FILE.format(first=first), shown, at=now)
