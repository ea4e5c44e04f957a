"""The first page: where the money stands and what needs attention."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from balance import movements
from balance import selectors as ledger
from common.clock import utc_now
from common.days import day_of
from dashboard.auto_funding import state as auto_funding
from dashboard.overview import attention, chart, getting_started, in_flight
from dashboard.overview.attention import Rule
from dashboard.shell import stops
from dashboard.shell.access import PageRequest, tenant_page
from dashboard.statement import movement_lines
from dashboard.statement.by_day import by_day
from funding import selectors as funding
from funding.models import AutoFundingConfig
from funding.services.auto_funding_checks import obstacle_of
from tenants.models import Tenant

_RECENT = 8


@require_safe
@tenant_page()
def overview(request: PageRequest) -> HttpResponse:
    """The whole page, or for htmx only its live parts."""
    tenant_id, now = request.access.tenant.pk, utc_now()
    config = funding.auto_funding_config(tenant_id=tenant_id)
    values = _live(request.access.tenant, config, now)
    # While Getting started has this step open, the notice would say the same twice.
    values["is_step_open"] = "starting" in request.GET and not config.enabled
    if request.htmx:
        return render(request, "dashboard/overview/_live.html", values)
    values |= _chart(request, config, now)
    values["steps"] = getting_started.steps(
        request.access.tenant,
        role=request.access.role,
        has_auto_funding=config.enabled,
        now=now,
    )
    values["is_step_open"] = bool(values["steps"]) and not config.enabled
    return render(request, "dashboard/overview/page.html", values)


@require_safe
@tenant_page()
def balance_chart(request: PageRequest) -> HttpResponse:
    """The chart alone, for htmx."""
    config = funding.auto_funding_config(tenant_id=request.access.tenant.pk)
    return render(
        request, "dashboard/overview/_balance_chart.html", _chart(request, config, utc_now())
    )


def _live(tenant: Tenant, config: AutoFundingConfig, now: datetime) -> dict[str, Any]:
    tenant_id, stopped = tenant.pk, stops.of(tenant)
    funds, obstacle = ledger.summary(tenant_id), obstacle_of(config, now=now)
    rule, state = (
        Rule(config, obstacle, funds),
        auto_funding.state(config, now=now, obstacle=obstacle),
    )
    if attention.of_auto_funding(rule, now=now):
        state = auto_funding.state_in_short(config, state)
    newest = movements.newest(tenant_id, count=_RECENT)
    shown = movement_lines.as_of_now(tenant_id=tenant_id, rows=newest, stopped=stopped)
    flying = in_flight.on_its_way(tenant_id=tenant_id, most=_RECENT, stopped=stopped, now=now)
    return {
        "funds": funds,
        "arriving": funds.pending - flying.waiting_in,
        "items": attention.items(tenant_id=tenant_id, now=now, rule=rule, stopped=stopped),
        "auto_funding": state,
        "days": by_day(shown, today=day_of(now)),
        "in_flight": flying,
    }


def _chart(request: PageRequest, config: AutoFundingConfig, now: datetime) -> dict[str, Any]:
    drawn = chart.chart(
        tenant_id=request.access.tenant.pk,
        config=config,
        span=chart.chosen_span(request.GET.get("days", "")),
        now=now,
    )
    return {"chart": drawn, "spans": chart.SPANS}
