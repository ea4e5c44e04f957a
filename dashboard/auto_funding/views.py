"""Auto-funding: what it does, why it did not, its settings with a preview, pause and resume."""

from __future__ import annotations

from datetime import datetime

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common.clock import utc_now
from common.errors import DomainError
from dashboard.authorizations import asking
from dashboard.auto_funding import authorization
from dashboard.auto_funding import form as auto_funding_form
from dashboard.auto_funding import state as auto_funding
from dashboard.auto_funding.decisions import decision_line, fired_in_words
from dashboard.auto_funding.form import FIELDS, AutoFundingForm
from dashboard.auto_funding.preview import Preview, of_form, of_settings
from dashboard.bank_accounts import authorization as bank_authorization
from dashboard.funding.methods import method_choices
from dashboard.shell import refusals, stops
from dashboard.shell.access import MONEY, PageRequest, tenant_form, tenant_page
from dashboard.shell.paging import page
from funding import selectors
from funding.agreements import Wording
from funding.errors import (
    AuthorizationRequired,
    AutoFundingChanged,
    FundingSourceNotAuthorized,
)
from funding.models import AutoFundingConfig, DecisionOutcome, FundingSource
from funding.services import (
    approval_policy,
    authorizations,
    auto_funding_config,
    limits,
    pauses,
)
from funding.services.auto_funding_checks import obstacle_of
from tenants import actors

_SHOWN = {"fired": DecisionOutcome.FIRED, "not_fired": DecisionOutcome.DECLINED}


@require_safe
@tenant_page()
def rule(request: PageRequest) -> HttpResponse:
    """The rule, what it would have done, and everything it decided."""
    tenant_id, now = request.access.tenant.pk, utc_now()
    found = selectors.auto_funding(tenant_id=tenant_id, now=now)
    ended = authorizations.ended_at(found.config)
    obstacle = obstacle_of(found.config, now=now)
    shown = request.GET.get("show", "")
    rows = selectors.decisions(tenant_id=tenant_id)
    if shown in _SHOWN:
        rows = rows.filter(outcome=_SHOWN[shown])
    decisions = page(rows, before=request.GET.get("before", ""))
    values = {
        "config": found.config,
        "funded_this_month": found.funded_this_month,
        "state": auto_funding.state(found.config, now=now, obstacle=obstacle),
        "adds_nothing": obstacle is not None,
        "is_paused": found.config.enabled
        and (ended is not None or pauses.is_paused(found.config, now)),
        "standing": auto_funding_config.standing_of(found.config, ended=ended),
        "asks_for_agreement": ended is not None,
        "preview": of_settings(found.config, now=now, is_held_up=obstacle is not None),
        "lines": [decision_line(row) for row in decisions.rows],
        "page": decisions,
        "shown": shown if shown in _SHOWN else "",
    }
    return render(request, "dashboard/auto_funding/rule.html", values)


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(*MONEY, needs_proof=True)
def settings(request: PageRequest) -> HttpResponse:
    """The form. `step=preview` shows what it would do, `step=save` does it."""
    now = utc_now()
    config = _config(request, now)
    form = _form(request, config, now)
    if request.method != "POST":
        return _ask(request, form, of_settings(config, now=now))
    if not form.is_valid() or request.POST.get("step") != "save":
        return _ask(request, form, _preview(request, form, now))
    wording = _wording(request, form, _source(request, form))
    agreement = asking.answer(request, wording, now=now) if wording else None
    if wording and agreement is None:
        return _ask(request, form, _preview(request, form, now), is_due=True)
    try:
        auto_funding_config.configure(
            tenant_id=request.access.tenant.pk,
            changes=form.changes(config),
            seen=form.cleaned_data["seen"] or None,
            agreement=agreement,
            actor=actors.user(request.user.pk),
            now=now,
        )
    except AutoFundingChanged as refusal:
        messages.error(
            request, f"{refusal.detail} Nothing was saved. These are the current settings."
        )
        return redirect("dashboard:auto_funding_settings")
    except FundingSourceNotAuthorized:
        form.add_error("source_id", bank_authorization.REFUSAL)
        return _ask(request, form, _preview(request, form, now))
    except DomainError as refusal:
        refusals.add_to(form, refusal, fields=FIELDS)
        return _ask(request, form, _preview(request, form, now))
    messages.success(request, " ".join(filter(None, ("Saved.", _fired(request, now)))))
    return redirect("dashboard:auto_funding")


def _fired(request: PageRequest, now: datetime) -> str:
    """What the rule did the moment it was saved, in words; empty where it added nothing."""
    tenant = request.access.tenant
    made = selectors.decisions(tenant_id=tenant.pk).filter(
        outcome=DecisionOutcome.FIRED, created_at=now
    )
    decision = made.select_related("funding").first()
    if decision is None:
        return ""
    return fired_in_words(
        decision,
        approvers=approval_policy.approvers(tenant_id=tenant.pk),
        is_stopped=bool(stops.of(tenant).funding),
    )


@require_POST
@tenant_form(*MONEY)
def preview(request: PageRequest) -> HttpResponse:
    """What the form, as far as it is filled in, would do: the part that follows the typing."""
    now = utc_now()
    form = _form(request, _config(request, now), now)
    form.is_valid()
    wording = _wording(request, form, _source(request, form))
    question = asking.question(request, wording) if wording else None
    values = {"preview": _preview(request, form, now), "question": question}
    return render(request, "dashboard/auto_funding/_preview_live.html", values)


@require_POST
@tenant_form(*MONEY)
def pause(request: PageRequest) -> HttpResponse:
    pauses.pause_by_hand(
        tenant_id=request.access.tenant.pk, actor=actors.user(request.user.pk), now=utc_now()
    )
    messages.success(request, "Auto-funding is paused. Money already on its way still arrives.")
    return redirect("dashboard:auto_funding")


@require_POST
@tenant_form(*MONEY, needs_proof=True)
def resume(request: PageRequest) -> HttpResponse:
    """End the pause that the page showed."""
    try:
        auto_funding_config.resume(
            tenant_id=request.access.tenant.pk,
            seen=request.POST.get("seen", ""),
            actor=actors.user(request.user.pk),
            now=utc_now(),
        )
    except AuthorizationRequired as refusal:
        messages.error(request, f"{refusal.detail} Read and authorize it here.")
        return redirect("dashboard:auto_funding_settings")
    except DomainError as refusal:
        messages.error(request, refusals.sentence(refusal))
    else:
        messages.success(request, "Auto-funding is on.")
    return redirect("dashboard:auto_funding")


def _config(request: PageRequest, now: datetime) -> AutoFundingConfig:
    return selectors.auto_funding(tenant_id=request.access.tenant.pk, now=now).config


def _form(request: PageRequest, config: AutoFundingConfig, now: datetime) -> AutoFundingForm:
    tenant_id = request.access.tenant.pk
    usable = list(selectors.usable_sources(tenant_id=tenant_id))
    named = config.source
    return AutoFundingForm(
        request.POST if request.method == "POST" else None,
        sources=usable if named is None or named in usable else [*usable, named],
        methods=method_choices(limits.of(tenant_id), mode=request.access.tenant.mode, now=now),
        saved=config,
        initial=auto_funding_form.initial(config),
    )


def _preview(request: PageRequest, form: AutoFundingForm, now: datetime) -> Preview:
    return of_form(form, tenant=request.access.tenant, now=now)


def _source(request: PageRequest, form: AutoFundingForm) -> FundingSource | None:
    """The account that the settings draw on, as far as they are filled in."""
    chosen = form.cleaned_data.get("source_id") if form.is_bound else form.initial["source_id"]
    return selectors.drawn_from(tenant_id=request.access.tenant.pk, source_id=chosen)


def _wording(
    request: PageRequest, form: AutoFundingForm, source: FundingSource | None
) -> Wording | None:
    return authorization.wording(form.settings, tenant=request.access.tenant, source=source)


def _ask(
    request: PageRequest, form: AutoFundingForm, shown: Preview, *, is_due: bool = False
) -> HttpResponse:
    status = 422 if form.errors or is_due else 200
    source = _source(request, form)
    wording = _wording(request, form, source)
    notice = bank_authorization.notice(source, then="auto-funding")
    values = {
        "form": form,
        "preview": shown,
        "unauthorized": notice,
        "question": asking.question(request, wording, is_due=is_due) if wording else None,
    }
    return render(request, "dashboard/auto_funding/settings.html", values, status=status)
