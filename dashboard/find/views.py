"""The search of the dashboard: as a page, and as the list in the dialog that Ctrl+K opens."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from common.clock import utc_now
from dashboard.find import asked, results
from dashboard.shell.access import PageRequest, tenant_page


@require_safe
@tenant_page()
def find(request: PageRequest) -> HttpResponse:
    """What `q` finds of the tenant: pages, ids, amounts, recipients, requests of the API."""
    typed = request.GET.get("q", "")
    search = asked.read(typed)
    values = {
        "typed": typed,
        "search": search,
        "groups": results.groups(request.access, search, now=utc_now()),
        "days": results.DAYS,
        "letters": asked.PREFIX_LETTERS,
    }
    template = "_choices.html" if request.htmx else "page.html"
    return render(request, f"dashboard/find/{template}", values)
