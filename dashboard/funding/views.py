"""Money coming in: every attempt, where it stands, and what became of it."""

from __future__ import annotations

from functools import partial

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from common.clock import utc_now
from dashboard.chain.collected import collect
from dashboard.funding import detail as funding_detail
from dashboard.funding.lines import funding_line
from dashboard.shell import stops
from dashboard.shell.access import MONEY, PageRequest, tenant_form, tenant_page
from dashboard.shell.paging import newest_of, page
from funding import selectors
from funding.models import SOURCE_TYPE
from funding.services import debit_authorizations, retries, topups
from funding.states import IN_FLIGHT, FundingStatus
from tenants import actors
from tenants import selectors as tenants
from transfers.errors import NotCancelable

_SHOWN = {
    "moving": IN_FLIGHT,
    "completed": (FundingStatus.COMPLETED,),
    "failed": (FundingStatus.FAILED,),
}


_NEWEST = newest_of(selectors.attempts)


@require_safe
@tenant_page()
def funding(request: PageRequest) -> HttpResponse:
    """Newest first: all of it, or what is under way, completed or failed."""
    rows = selectors.attempts(tenant_id=request.access.tenant.pk)
    shown = request.GET.get("show", "")
    if shown in _SHOWN:
        rows = rows.filter(status__in=_SHOWN[shown])
    newest = partial(_NEWEST.read, tenant_id=request.access.tenant.pk)
    found = page(
        rows,
        before=request.GET.get("before", ""),
        newest=None if shown in _SHOWN else newest,
    )
    stop = stops.of(request.access.tenant).funding
    badge = stops.BADGE if stop else None
    values = {
        "lines": [funding_line(row, stopped=badge) for row in found.rows],
        "stop": stop,
        "page": found,
        "shown": shown if shown in _SHOWN else "",
    }
    return render(request, "dashboard/funding/list.html", values)


@require_safe
@tenant_page()
def detail(request: PageRequest, funding_id: str) -> HttpResponse:
    """One attempt with its timeline; for htmx only the part that changes."""
    access, now = request.access, utc_now()
    row = selectors.attempt(tenant_id=access.tenant.pk, funding_id=funding_id)
    history = list(selectors.history(row))
    collected = collect(
        tenant_id=access.tenant.pk,
        subject_id=row.pk,
        source_type=SOURCE_TYPE,
        with_audit=access.may_read_audit_log,
    )
    names = tenants.people_and_keys({event.actor_id for event in history} | collected.actors)
    retried = None
    if row.retry_of_id is None and retries.is_retriable(row):
        retried = retries.standing(row, mode=access.tenant.mode, now=now)
    values = {
        "funding": funding_detail.detail(
            row,
            history=history,
            names=names,
            stop=stops.of(access.tenant).funding,
            retried=retried,
            now=now,
        ),
        "chain": collected.chain(names),
        "authorization": debit_authorizations.of_debit(row),
    }
    template = "_detail_live.html" if request.htmx else "detail.html"
    return render(request, f"dashboard/funding/{template}", values)


@require_POST
@tenant_form(*MONEY)
def cancel(request: PageRequest, funding_id: str) -> HttpResponse:
    try:
        topups.cancel(
            tenant_id=request.access.tenant.pk,
            funding_id=funding_id,
            actor=actors.user(request.user.pk),
            now=utc_now(),
        )
    except NotCancelable as refusal:
        messages.error(request, refusal.detail)
    else:
        messages.success(request, "Canceled. No money was moved.")
    return redirect("dashboard:funding_detail", funding_id=funding_id)
