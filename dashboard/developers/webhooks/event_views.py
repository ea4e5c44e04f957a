"""The events of the last 30 days, also those that no endpoint was told of."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from common.clock import utc_now
from dashboard.chain import titles
from dashboard.developers.webhooks.forms import EventFilter
from dashboard.developers.webhooks.lines import body_of, delivery_line, event_line
from dashboard.developers.webhooks.sentences import sentences
from dashboard.shell import stops
from dashboard.shell.access import PageRequest, tenant_page
from dashboard.shell.paging import page
from webhooks import selectors


@require_safe
@tenant_page()
def events(request: PageRequest) -> HttpResponse:
    rows = selectors.events(tenant_id=request.access.tenant.pk)
    form = EventFilter(request.GET)
    found = page(form.narrow(rows), before=request.GET.get("before", ""), unfiltered=rows)
    said = sentences(found.rows, tenant_id=request.access.tenant.pk)
    lines = [event_line(row, said=said) for row in found.rows]
    values = {"lines": lines, "page": found, "form": form}
    return render(
        request, "dashboard/developers/webhooks/events.html", values, status=form.http_status
    )


@require_safe
@tenant_page()
def event(request: PageRequest, event_id: str) -> HttpResponse:
    """One event, as its receivers got it, and who they were."""
    tenant_id = request.access.tenant.pk
    row = selectors.event(tenant_id=tenant_id, event_id=event_id)
    deliveries = selectors.deliveries_of(event_id=row.pk)
    stop = stops.of_webhooks(tenant_id)
    values = {
        "title": titles.of_event(row, now=utc_now()),
        "line": event_line(row, said=sentences([row], tenant_id=tenant_id)),
        "body": body_of(row),
        "stop": stop,
        "deliveries": [
            (delivery_line(item, is_stopped=bool(stop)), item.endpoint.url) for item in deliveries
        ],
    }
    return render(request, "dashboard/developers/webhooks/event.html", values)
