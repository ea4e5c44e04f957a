"""Add money: fill in, review, confirm. Works without scripts, adds nothing twice."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from common.clock import utc_now
from common.errors import DomainError
from dashboard.authorizations import asking
from dashboard.auto_funding.state import people
from dashboard.bank_accounts import authorization as bank_authorization
from dashboard.funding.methods import TEXTS, method_choices
from dashboard.funding.topup_form import TopUpForm, funding_id_of, new_token
from dashboard.shell import refusals, stops
from dashboard.shell.access import MONEY, PageRequest, tenant_form
from funding import agreements, quotes, selectors
from funding.agreements import Wording
from funding.quotes import Quote
from funding.services import limits, topups
from funding.services.debit_authorizations import is_asked_of
from funding.services.lifecycle import TopUp
from tenants import actors

_AGAIN = "You already sent this form. This is the top-up it created. Nothing was added twice."
_FIELDS = {"fundingSourceId": "source", "fundingMethod": "method"}


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(*MONEY)
def topup(request: PageRequest) -> HttpResponse:
    """One address for the three steps; `step` says which button was pressed."""
    form = _form(request)
    if request.method != "POST" or request.POST.get("step") == "edit":
        return _ask(request, form)
    if not form.is_valid():
        return _ask(request, form, status=422)
    funding_id = funding_id_of(form.cleaned_data["token"], tenant_id=request.access.tenant.pk)
    if funding_id is None:
        return _outdated(request, form)
    if request.POST.get("step") == "confirm":
        return _confirm(request, form, funding_id)
    return _review(request, form)


@require_POST
@tenant_form(*MONEY)
def check(request: PageRequest) -> HttpResponse:
    """What the amount, as far as it is typed, means: the part that follows the typing."""
    form = _form(request)
    form.is_valid()
    values = {**_advice(request, form), "typed": form.data.get("amount", "").strip()}
    return render(request, "dashboard/funding/_topup_advice.html", values)


def _review(request: PageRequest, form: TopUpForm, *, is_due: bool = False) -> HttpResponse:
    """`is_due`: it was confirmed without the account holder's agreement."""
    quote = _quote(request, form)
    if quote.refusal is not None:
        refusals.add_to(form, quote.refusal, fields=_FIELDS)
        return _ask(request, form, status=422)
    asked = {"asked": people(quote.approvers), "stop": _stop(request)}
    wording = _wording(request, form)
    values = {
        "form": form,
        "quote": quote,
        "question": asking.question(request, wording, is_due=is_due) if wording else None,
        **asked,
        **_chosen(form),
    }
    status = 422 if is_due else 200
    return render(request, "dashboard/funding/topup_review.html", values, status=status)


def _wording(request: PageRequest, form: TopUpForm) -> Wording | None:
    """What the account holder has to agree to; None where nothing is asked."""
    tenant, source = request.access.tenant, form.account
    method, _ = form.way
    if source is None or not is_asked_of(source, mode=tenant.mode, method=method):
        return None
    amount = form.cleaned_data["amount"]
    return agreements.one_topup(source, tenant_name=tenant.name, amount=amount, now=utc_now())


def _advice(request: PageRequest, form: TopUpForm) -> dict[str, object]:
    """What the amount means, for the part that follows the typing."""
    quote = _quote(request, form)
    return {"quote": quote, "soon": TEXTS.soon(quote.method), "stop": _stop(request)}


def _quote(request: PageRequest, form: TopUpForm) -> Quote:
    """For the amount and method that are filled in; without an amount only the bounds."""
    data = getattr(form, "cleaned_data", {})
    method, speed = form.way
    return quotes.quote(
        tenant_id=request.access.tenant.pk,
        mode=request.access.tenant.mode,
        method=method,
        speed=speed,
        amount=data.get("amount"),
        now=utc_now(),
    )


def _form(request: PageRequest) -> TopUpForm:
    tenant_id = request.access.tenant.pk
    return TopUpForm(
        request.POST if request.method == "POST" else None,
        sources=list(selectors.usable_sources(tenant_id=tenant_id)),
        methods=method_choices(
            limits.of(tenant_id), mode=request.access.tenant.mode, now=utc_now(), with_speeds=True
        ),
        initial={
            "token": new_token(tenant_id=tenant_id),
            "amount": request.GET.get("amount", ""),
        },
    )


def _chosen(form: TopUpForm) -> dict[str, object]:
    """The names of the chosen account and method."""
    data = form.cleaned_data
    return {
        "source_name": dict(form.fields["source"].choices)[data["source"]],  # type: ignore[attr-defined]  # a ChoiceField
        "method": dict(form.fields["method"].choices)[data["method"]],  # type: ignore[attr-defined]
    }


def _ask(request: PageRequest, form: TopUpForm, *, status: int = 200) -> HttpResponse:
    unauthorized = bank_authorization.notice(form.account, then="topup")
    values = {**_advice(request, form), "form": form, "unauthorized": unauthorized}
    return render(request, "dashboard/funding/topup.html", values, status=status)


def _said(request: PageRequest) -> str:
    if stop := _stop(request):
        return f"You ordered a top-up. It is not sent yet. {stop}"
    return "You ordered a top-up. This page shows when it is sent and when the money arrives."


def _stop(request: PageRequest) -> str:
    """Says that, and by what, sending funding is stopped."""
    return stops.of(request.access.tenant).funding


def _outdated(request: PageRequest, form: TopUpForm) -> HttpResponse:
    form.data = {**request.POST.dict(), "token": new_token(tenant_id=request.access.tenant.pk)}
    form.add_error(None, "This form has expired. Check what you entered and send it again.")
    return _ask(request, form, status=422)


def _confirm(request: PageRequest, form: TopUpForm, funding_id: str) -> HttpResponse:
    data = form.cleaned_data
    method, speed = form.way
    wording = _wording(request, form)
    agreement = asking.answer(request, wording, now=utc_now()) if wording else None
    if wording and agreement is None:
        return _review(request, form, is_due=True)
    wish = TopUp(
        source_id=data["source"],
        amount=data["amount"],
        method=method,
        speed=speed,
        agreement=agreement,
        id=funding_id,
    )
    tenant = request.access.tenant
    try:
        funding, is_new = topups.request_once(
            tenant_id=tenant.pk,
            mode=tenant.mode,
            topup=wish,
            actor=actors.user(request.user.pk),
            now=utc_now(),
        )
    except DomainError as refusal:
        refusals.add_to(form, refusal, fields=_FIELDS)
        return _ask(request, form, status=422)
    messages.success(request, _said(request)) if is_new else messages.info(request, _AGAIN)
    return redirect("dashboard:funding_detail", funding_id=funding.pk)
