"""Quickstart, for the people who build on the API: the first calls, and what failed last."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from api import request_log
from common.clock import utc_now
from dashboard.developers.api_keys.lines import key_line
from dashboard.developers.requests.lines import request_line
from dashboard.shell.access import PageRequest, tenant_page
from funding import selectors as funding
from tenants import selectors as tenants
from tenants.models import Role

# Enough for every key that is in use (20) and those it replaced.
_KEYS_COUNTED = 100
_REQUESTS_SHOWN = 5


@require_safe
@tenant_page()
def developers(request: PageRequest) -> HttpResponse:
    """The landing page: base address, first calls with the tenant's own ids, what failed last."""
    tenant = request.access.tenant
    now = utc_now()
    keys = [key_line(row, now=now) for row in tenants.api_keys(tenant_id=tenant.pk)[:_KEYS_COUNTED]]
    refused = request_log.requests(tenant_id=tenant.pk).filter(status__gte=400)
    latest = refused.order_by("-created_at", "-id")[:_REQUESTS_SHOWN]
    values = {
        "base_url": f"{settings.BASE_URL}/api/v1",
        "source": funding.usable_sources(tenant_id=tenant.pk).first(),
        "usable_keys": sum(line.is_usable for line in keys),
        "refused": [request_line(row) for row in latest],
        "may_see_keys": request.access.may_move_money,
        "may_manage": request.access.role == Role.OWNER,
    }
    return render(request, "dashboard/developers/quickstart.html", values)
