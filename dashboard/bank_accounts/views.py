"""Where money may be asked from: list, add, verify, choose the default, remove."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common.clock import utc_now
from common.errors import DomainError
from dashboard.authorizations import asking
from dashboard.bank_accounts import authorization
from dashboard.bank_accounts.advice import removal, routing_advice
from dashboard.bank_accounts.forms import (
    FIELDS,
    BankAccountForm,
    DepositsForm,
    PickerForm,
    add_link_refusal,
)
from dashboard.bank_accounts.lines import bank_account_line
from dashboard.bank_accounts.names import account_name
from dashboard.shell import refusals
from dashboard.shell.access import MONEY, PageRequest, tenant_form, tenant_page
from funding import selectors
from funding.agreements import Agreement
from funding.errors import (
    FundingSourceInUse,
    FundingSourceNotVerified,
    FundingSourceUnusable,
    VerificationNotPending,
)
from funding.models import FundingSource
from funding.services import drafts, hosted_links, linking, sources, verifications
from funding.services.drafts import Draft
from funding.states import SourceStatus
from networks.base import HolderType
from networks.sandbox.scripts import MICRO_DEPOSITS
from tenants import actors
from tenants.models import Mode

_HOLDERS = {HolderType.BUSINESS: "a business", HolderType.INDIVIDUAL: "an individual"}


@require_safe
@tenant_page()
def bank_accounts(request: PageRequest) -> HttpResponse:
    """At most twenty, so without pages; removed ones are left out."""
    rows = selectors.sources(tenant_id=request.access.tenant.pk)
    kept = rows.exclude(status=SourceStatus.REMOVED).order_by("-is_default", "-created_at")
    mode = request.access.tenant.mode
    lines = [bank_account_line(row, mode=mode) for row in kept]
    values = {
        "lines": lines,
        "can_link": hosted_links.is_offered(mode=mode),
        "can_enter": drafts.can_enter(mode=mode),
    }
    return render(request, "dashboard/bank_accounts/list.html", values)


@sensitive_post_parameters("account_number", "account_number_again")
@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(*MONEY)
@sensitive_variables()
def enter(request: PageRequest) -> HttpResponse:
    """Add an account by its numbers. Where no network is connected the page says so instead."""
    form = BankAccountForm(request.POST if request.method == "POST" else None)
    mode = request.access.tenant.mode
    wording = authorization.of_new_account(request.access.tenant)
    agreement = asking.answer(request, wording, now=utc_now()) if wording else None
    is_due = bool(wording) and form.data.get("holder_type") == HolderType.INDIVIDUAL
    if form.is_valid() and (agreement or not is_due):
        try:
            draft = drafts.enter(mode=mode, **form.cleaned_data)
            return _added(request, draft, agreement if is_due else None)
        except DomainError as refusal:
            refusals.add_to(form, refusal, fields=FIELDS)
    question = (
        asking.question(request, wording, is_due=is_due, is_optional=True) if wording else None
    )
    can_enter = drafts.can_enter(mode=mode)
    is_refused = is_due and not agreement
    return _form_page(request, "enter", form, is_refused, can_enter=can_enter, question=question)


@require_safe
@tenant_page(*MONEY)
def routing(request: PageRequest) -> HttpResponse:
    """Whose routing number it is: the part that follows the typing."""
    advice = routing_advice(request.GET.get("routing_number", ""))
    return render(request, "dashboard/bank_accounts/_routing_advice.html", {"advice": advice})


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(*MONEY)
def pick(request: PageRequest) -> HttpResponse:
    """The sandbox's stand-in for the bank-linking provider. Live tenants have no such page."""
    if request.access.tenant.mode != Mode.SANDBOX:
        raise Http404
    form = PickerForm(
        request.POST if request.method == "POST" else None,
        initial={"holder_name": request.access.tenant.name},
    )
    if form.is_valid():
        try:
            draft = drafts.exchange(
                mode=request.access.tenant.mode,
                token=form.token,
                account_id="acc_picked",
                holder_name=form.cleaned_data["holder_name"],
            )
            return _added(request, draft)
        except DomainError as refusal:
            add_link_refusal(form, refusal)
    return _form_page(request, "pick", form)


@require_POST
@tenant_form(*MONEY)
def make_default(request: PageRequest, source_id: str) -> HttpResponse:
    try:
        source = sources.make_default(
            tenant_id=request.access.tenant.pk,
            source_id=source_id,
            actor=actors.user(request.user.pk),
            now=utc_now(),
        )
    except (FundingSourceNotVerified, FundingSourceUnusable) as refusal:
        messages.error(request, refusals.sentence(refusal))
    else:
        messages.success(request, f"{account_name(source)} is now the default account.")
    return redirect("dashboard:bank_accounts")


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(*MONEY)
def holder(request: PageRequest, source_id: str) -> HttpResponse:
    """Whose account it is, where the provider did not tell."""
    source = _kept(request, source_id)
    values = {"name": account_name(source), "is_known": source.is_holder_known}
    if request.method != "POST" or source.is_holder_known:
        return render(request, "dashboard/bank_accounts/holder.html", values)
    told = request.POST.get("holder_type", "")
    if told not in {kind.value for kind in HolderType}:
        values["error"] = "Choose a business or an individual."
        return render(request, "dashboard/bank_accounts/holder.html", values, status=422)
    sources.tell_holder(
        tenant_id=request.access.tenant.pk,
        source_id=source_id,
        holder_type=HolderType(told),
        actor=actors.user(request.user.pk),
        now=utc_now(),
    )
    messages.success(request, f"{account_name(source)} is held by {_HOLDERS[HolderType(told)]}.")
    return redirect("dashboard:bank_accounts")


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(*MONEY)
def remove(request: PageRequest, source_id: str) -> HttpResponse:
    """GET spells out what removing means; POST does it."""
    source = _kept(request, source_id)
    if request.method != "POST":
        return _ask_removal(request, source)
    try:
        sources.remove(
            tenant_id=request.access.tenant.pk,
            source_id=source_id,
            actor=actors.user(request.user.pk),
            now=utc_now(),
        )
    except FundingSourceInUse as refusal:
        messages.error(request, refusals.sentence(refusal))
    else:
        messages.success(request, f"{account_name(source)} was removed.")
    return redirect("dashboard:bank_accounts")


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(*MONEY)
def verify(request: PageRequest, source_id: str) -> HttpResponse:
    """Prove an account by its two deposits; a wrong pair costs one of three tries."""
    source = _kept(request, source_id)
    form = DepositsForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        refusal = _try(request, source, form)
        if refusal is None:
            messages.success(request, f"{account_name(source)} is verified.")
            return redirect("dashboard:bank_accounts")
        refusals.add_to(form, refusal, fields={})
        source = _kept(request, source_id)
    left, until = selectors.verification(source)
    return _form_page(
        request,
        "verify",
        form,
        line=bank_account_line(source),
        tries_left=left,
        expires_at=until,
        test_cents=MICRO_DEPOSITS if request.access.tenant.mode == Mode.SANDBOX else (),
    )


def _ask_removal(request: PageRequest, source: FundingSource) -> HttpResponse:
    tenant_id = request.access.tenant.pk
    moving = list(selectors.in_flight(tenant_id=tenant_id).filter(source=source))
    config = selectors.auto_funding_config(tenant_id=tenant_id)
    values = {
        "line": bank_account_line(source),
        "consequences": removal(
            source, config=config, moving=moving, is_seen=selectors.has_consent(source)
        ),
        "is_blocked": bool(moving),
    }
    return render(request, "dashboard/bank_accounts/remove.html", values)


def _try(request: PageRequest, source: FundingSource, form: DepositsForm) -> DomainError | None:
    try:
        verdict = verifications.verify(
            tenant_id=request.access.tenant.pk,
            source_id=source.pk,
            amounts=(form.cleaned_data["first"], form.cleaned_data["second"]),
            actor=actors.user(request.user.pk),
            now=utc_now(),
        )
    except VerificationNotPending as refusal:
        return refusal
    return verdict.refusal


def _kept(request: PageRequest, source_id: str) -> FundingSource:
    source = sources.find(tenant_id=request.access.tenant.pk, source_id=source_id)
    if source.status == SourceStatus.REMOVED:
        raise Http404
    return source


def _added(request: PageRequest, draft: Draft, agreement: Agreement | None = None) -> HttpResponse:
    source = linking.add(
        tenant_id=request.access.tenant.pk,
        draft=draft,
        agreement=agreement,
        actor=actors.user(request.user.pk),
        now=utc_now(),
    )
    messages.success(request, f"{account_name(source)} was added.")
    return redirect("dashboard:bank_accounts")


def _form_page(
    request: PageRequest,
    page: str,
    form: BankAccountForm | PickerForm | DepositsForm,
    is_refused: bool = False,
    **values: object,
) -> HttpResponse:
    status = 422 if form.errors or is_refused else 200
    return render(
        request, f"dashboard/bank_accounts/{page}.html", {"form": form, **values}, status=status
    )
