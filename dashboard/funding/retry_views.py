"""Try again what came back for want of funds: what that means, and the button."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from common.clock import utc_now
from common.errors import DomainError
from dashboard.auto_funding.state import people
from dashboard.funding.lines import funding_line
from dashboard.shell import refusals, stops
from dashboard.shell.access import MONEY, PageRequest, tenant_form
from funding import quotes, selectors
from funding.models import FundingTransaction
from funding.quotes import Quote
from funding.services import debit_authorizations, retries
from tenants import actors


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(*MONEY)
def retry(request: PageRequest, funding_id: str) -> HttpResponse:
    """GET spells out what it means; POST does it, once for however many clicks."""
    tenant, now = request.access.tenant, utc_now()
    row = selectors.attempt(tenant_id=tenant.pk, funding_id=funding_id)
    if request.method != "POST":
        return _ask(request, row)
    try:
        begun = retries.start(
            tenant_id=tenant.pk,
            mode=tenant.mode,
            funding_id=funding_id,
            actor=actors.user(request.user.pk),
            now=now,
        )
    except DomainError as refusal:
        messages.error(request, refusals.sentence(refusal))
        return redirect("dashboard:funding_detail", funding_id=funding_id)
    messages.success(request, "We are trying again. This page follows the new attempt.")
    return redirect("dashboard:funding_detail", funding_id=begun.pk)


def _ask(request: PageRequest, row: FundingTransaction) -> HttpResponse:
    tenant, now = request.access.tenant, utc_now()
    found = retries.standing(row, mode=tenant.mode, now=now)
    quote = _quote(request, row)
    values = {
        "line": funding_line(row),
        "obstacle": found.obstacle or (quote.refusal.detail if quote.refusal else ""),
        "number": len([each for each in found.retries if each.returned]) + 1,
        "quote": quote,
        "asked": people(quote.approvers),
        "authorization": debit_authorizations.of_debit(row),
        "stop": stops.of(tenant).funding,
    }
    return render(request, "dashboard/funding/retry.html", values)


def _quote(request: PageRequest, row: FundingTransaction) -> Quote:
    tenant = request.access.tenant
    return quotes.quote(
        tenant_id=tenant.pk, mode=tenant.mode, method=row.method, amount=row.amount, now=utc_now()
    )
