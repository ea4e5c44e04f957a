"""The queues and the clockwork behind them."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from common.clock import utc_now
from desk.access import desk_page, desk_render
from desk.queues.jobs import job_lines
from desk.queues.lines import queue_lines


@require_safe
@desk_page("tenants.view_tenant")
def queues(request: HttpRequest) -> HttpResponse:
    """What is due, what is being worked on, and when each periodic job last ran."""
    now = utc_now()
    return desk_render(
        request,
        "desk/queues/page.html",
        title="Queues",
        lines=queue_lines(now),
        jobs=job_lines(now=now),
    )
