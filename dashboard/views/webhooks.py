"""Where events are sent, and whether they arrive."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard import context
from dashboard.access import PageRequest, tenant_page
from webhooks import selectors


@require_safe
@tenant_page()
def webhooks(request: PageRequest) -> HttpResponse:
    """At most twenty endpoints, so without pages."""
    rows = selectors.endpoints(tenant_id=request.seat.tenant.pk).order_by("-created_at", "-id")
    lines = [context.endpoint_line(row) for row in rows]
    return render(request, "dashboard/webhooks.html", {"lines": lines})
