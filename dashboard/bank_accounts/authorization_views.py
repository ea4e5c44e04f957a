"""Saying that the holder of a bank account agrees to debits again."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from common.clock import utc_now
from common.errors import DomainError
from dashboard.bank_accounts import authorization as bank_authorization
from dashboard.bank_accounts.names import account_name
from dashboard.shell import refusals
from dashboard.shell.access import MONEY, PageRequest, tenant_form
from funding import selectors
from funding.errors import AuthorizationChanged, AutoFundingChanged
from funding.models import FundingSource
from funding.services import authorizations, auto_funding_config, sources
from funding.states import SourceStatus
from tenants import actors


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(*MONEY)
def authorize(request: PageRequest, source_id: str) -> HttpResponse:
    """GET spells out what it means; POST says it. `then` names the page to go back to."""
    tenant_id = request.access.tenant.pk
    source = sources.find(tenant_id=tenant_id, source_id=source_id)
    if source.status == SourceStatus.REMOVED:
        raise Http404
    if request.method != "POST":
        return _ask(request, source)
    resumes = "resume" in request.POST
    try:
        _resume(request, source_id) if resumes else _renew(request, source_id)
    except (AuthorizationChanged, AutoFundingChanged) as refusal:
        messages.error(request, f"{refusal.detail} This is what it says now.")
    except DomainError as refusal:
        messages.error(request, f"Nothing was changed. {refusals.sentence(refusal)}")
    else:
        more = ", and auto-funding is on" if resumes else ""
        messages.success(request, f"{account_name(source)} may be debited again{more}.")
        return redirect(bank_authorization.page_of(request.POST.get("then", "")))
    return redirect("dashboard:bank_account_authorize", source_id)


def _renew(request: PageRequest, source_id: str) -> None:
    authorizations.renew(
        tenant_id=request.access.tenant.pk,
        source_id=source_id,
        seen=request.POST.get("seen", ""),
        actor=actors.user(request.user.pk),
        now=utc_now(),
    )


def _resume(request: PageRequest, source_id: str) -> None:
    """Authorize the account that auto-funding draws on, and end the pause of auto-funding."""
    auto_funding_config.resume(
        tenant_id=request.access.tenant.pk,
        seen=request.POST.get("standing", ""),
        source_id=source_id,
        actor=actors.user(request.user.pk),
        now=utc_now(),
    )


def _ask(request: PageRequest, source: FundingSource) -> HttpResponse:
    config = selectors.auto_funding_config(tenant_id=request.access.tenant.pk)
    then = request.GET.get("then", "")
    values = {
        "name": account_name(source),
        "seen": authorizations.version_of(source) if source.status == SourceStatus.ACTIVE else "",
        "answer": bank_authorization.answer(source),
        "consequences": bank_authorization.consequences(source, config=config),
        "resuming": bank_authorization.resuming(source, config=config),
        "standing": auto_funding_config.standing_of(config, ended=source.authorization_ended_at),
        "then": then,
        "back": reverse(bank_authorization.page_of(then)),
    }
    return render(request, "dashboard/bank_accounts/authorize.html", values)
