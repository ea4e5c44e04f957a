"""Saying that the holder of a bank account agrees to debits again."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from common.clock import utc_now
from common.errors import DomainError
from dashboard.authorizations import asking
from dashboard.bank_accounts import authorization as bank_authorization
from dashboard.bank_accounts.names import account_name
from dashboard.shell import refusals
from dashboard.shell.access import MONEY, PageRequest, tenant_form
from funding import selectors
from funding.agreements import Agreement, Wording
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
    wording = bank_authorization.of_account(source, request.access.tenant)
    agreement = asking.answer(request, wording, now=utc_now()) if wording else None
    if request.method != "POST" or (wording and agreement is None):
        return _ask(request, source, wording)
    resumes = wording is None and "resume" in request.POST
    try:
        _resume(request, source_id) if resumes else _renew(request, source_id, agreement)
    except (AuthorizationChanged, AutoFundingChanged) as refusal:
        messages.error(request, f"{refusal.detail} This is what it says now.")
    except DomainError as refusal:
        messages.error(request, f"Nothing was changed. {refusals.sentence(refusal)}")
    else:
        more = ", and auto-funding is on" if resumes else ""
        again = " again" if source.authorization_ended_at else ""
        messages.success(request, f"{account_name(source)} may be debited{again}{more}.")
        return redirect(bank_authorization.page_of(request.POST.get("then", "")))
    return redirect("dashboard:bank_account_authorize", source_id)


def _renew(request: PageRequest, source_id: str, agreement: Agreement | None) -> None:
    authorizations.renew(
        tenant_id=request.access.tenant.pk,
        source_id=source_id,
        seen=request.POST.get("seen", ""),
        agreement=agreement,
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


def _ask(request: PageRequest, source: FundingSource, wording: Wording | None) -> HttpResponse:
    is_due = request.method == "POST"
    config = selectors.auto_funding_config(tenant_id=request.access.tenant.pk)
    then = request.GET.get("then", "")
    values = {
        "name": account_name(source),
        "seen": authorizations.version_of(source) if source.status == SourceStatus.ACTIVE else "",
        "answer": bank_authorization.answer(source),
        "consequences": bank_authorization.consequences(source, config=config),
        "question": asking.question(request, wording, is_due=is_due) if wording else None,
        # What auto-funding draws from an individual's account is agreed to in its settings.
        "resuming": "" if wording else bank_authorization.resuming(source, config=config),
        "standing": auto_funding_config.standing_of(config, ended=source.authorization_ended_at),
        "then": then,
        "back": reverse(bank_authorization.page_of(then)),
    }
    status = 422 if is_due else 200
    return render(request, "dashboard/bank_accounts/authorize.html", values, status=status)
