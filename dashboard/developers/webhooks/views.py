"""Where events are sent, and whether they arrive."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from common.clock import utc_now
from dashboard.chain import titles
from dashboard.developers.webhooks.forms import DeliveryFilter
from dashboard.developers.webhooks.lines import (
    attempt_line,
    body_of,
    delivery_line,
    endpoint_line,
)
from dashboard.developers.webhooks.sentences import sentences
from dashboard.shell import stops
from dashboard.shell.access import MONEY, PageRequest, tenant_page
from dashboard.shell.paging import page
from tenants.models import Role
from webhooks import selectors
from webhooks.delivery_health import health_of

# Resends of one delivery may add up; the page shows its latest tries.
_ATTEMPTS_SHOWN = 30


@require_safe
@tenant_page()
def webhooks(request: PageRequest) -> HttpResponse:
    """At most twenty endpoints, so without pages."""
    now = utc_now()
    tenant_id = request.access.tenant.pk
    rows = selectors.endpoints(tenant_id=tenant_id).order_by("-created_at", "-id")
    found = list(rows)
    health = health_of([row.pk for row in found], now=now)
    values = {
        "lines": [endpoint_line(row, health[row.pk], now=now) for row in found],
        "may_manage": request.access.role == Role.OWNER,
        "stop": stops.of_webhooks(tenant_id),
    }
    return render(request, "dashboard/developers/webhooks/list.html", values)


@require_safe
@tenant_page()
def endpoint(request: PageRequest, endpoint_id: str) -> HttpResponse:
    """One endpoint and what was to be sent to it."""
    now = utc_now()
    tenant_id = request.access.tenant.pk
    row = selectors.endpoint(tenant_id=tenant_id, endpoint_id=endpoint_id)
    rows = selectors.deliveries(tenant_id=tenant_id, endpoint_id=endpoint_id)
    form = DeliveryFilter(request.GET)
    found = page(form.narrow(rows), before=request.GET.get("before", ""), unfiltered=rows)
    stop = stops.of_webhooks(tenant_id)
    said = sentences([item.event for item in found.rows], tenant_id=tenant_id)
    values = {
        "line": endpoint_line(row, health_of([row.pk], now=now)[row.pk], now=now),
        "stop": stop,
        "deliveries": [
            delivery_line(item, is_stopped=bool(stop), said=said) for item in found.rows
        ],
        "page": found,
        "form": form,
        "may_manage": request.access.role == Role.OWNER,
        "may_send": request.access.role in MONEY,
    }
    return render(
        request, "dashboard/developers/webhooks/endpoint.html", values, status=form.http_status
    )


@require_safe
@tenant_page()
def delivery(request: PageRequest, delivery_id: str) -> HttpResponse:
    """One event for one endpoint: the request, and every answer; for htmx what may change."""
    tenant_id = request.access.tenant.pk
    row = selectors.delivery(tenant_id=tenant_id, delivery_id=delivery_id)
    attempts = selectors.attempts(delivery_id=row.pk)[:_ATTEMPTS_SHOWN]
    stop = stops.of_webhooks(tenant_id)
    endpoint = selectors.endpoint(tenant_id=tenant_id, endpoint_id=row.endpoint_id)
    values = {
        "title": titles.of_delivery(row.event, endpoint.url, now=utc_now()),
        "line": delivery_line(
            row,
            is_stopped=bool(stop),
            said=sentences([row.event], tenant_id=tenant_id),
        ),
        "stop": stop,
        "endpoint": endpoint,
        "attempts": [attempt_line(item, event_id=row.event_id) for item in attempts],
        "body": body_of(row.event),
        "may_send": request.access.role in MONEY,
    }
    template = "_delivery_live.html" if request.htmx else "delivery.html"
    return render(request, f"dashboard/developers/webhooks/{template}", values)
