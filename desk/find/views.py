"""The search of the desk: as a page, and as the list in the dialog that Ctrl+K opens."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from common.clock import utc_now
from dashboard.find import asked
from dashboard.shell import pace
from desk.access import actor_of, desk_page, desk_render
from desk.find import noting, results


@require_safe
@desk_page(limit=pace.PAGES)
def find(request: HttpRequest) -> HttpResponse:
    """What `q` finds of all tenants: pages, tenants, ids, amounts, trace numbers, people."""
    typed = request.GET.get("q", "")
    search = asked.read(typed)
    noting.note(search, actor=actor_of(request))
    is_part = request.headers.get("HX-Request") == "true"
    return desk_render(
        request,
        "dashboard/find/_choices.html" if is_part else "desk/find/page.html",
        title="Search",
        typed=typed,
        search=search,
        groups=results.groups(request, search, now=utc_now()),
        days=results.DAYS,
        letters=asked.PREFIX_LETTERS,
    )
