"""Pay somebody: fill in, review, confirm. Works without scripts, pays nothing twice."""

from __future__ import annotations

from datetime import datetime

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from balance import selectors as ledger
from common import ids, lookalikes
from common.clock import utc_now
from common.errors import DomainError
from common.money import format_cents
from dashboard.payments.forms import PayForm
from dashboard.payments.methods import method_choices
from dashboard.recipients.choices import recipient_choices
from dashboard.recipients.lines import recipient_line
from dashboard.shell import refusals, stops
from dashboard.shell.access import MONEY, PageRequest, tenant_form
from dashboard.shell.fields import dollars_text
from dashboard.shell.method_choice import method_and_speed
from payments import automatic
from payments.methods import METHODS
from payments.models import AUTO, Payment
from payments.services import orders
from payments.services.orders import Order, Preview
from payments.states import PaymentStatus
from tenants import actors
from tenants.errors import ProofNeeded

_FIELDS = {"recipientId": "recipient"}


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(*MONEY)
def pay(request: PageRequest) -> HttpResponse:
    """One address for the three steps; `step` says which button was pressed."""
    form = _form(request)
    if request.method != "POST" or request.POST.get("step") == "edit":
        return _ask(request, form)
    if not form.is_valid():
        return _ask(request, form, status=422)
    if request.POST.get("step") == "confirm":
        return _confirm(request, form)
    return _review(request, form)


def _form(request: PageRequest) -> PayForm:
    tenant_id = request.access.tenant.pk
    named = request.GET.get("recipient", "")
    chosen = request.POST.get("recipient", named)
    return PayForm(
        request.POST if request.method == "POST" else None,
        tenant_id=tenant_id,
        what=ids.new("pay"),
        recipients=recipient_choices(tenant_id=tenant_id, chosen=chosen),
        methods=method_choices(mode=request.access.tenant.mode, now=utc_now()),
        available=ledger.summary(tenant_id).available,
        initial={"recipient": named},
    )


def _ask(request: PageRequest, form: PayForm, *, status: int = 200) -> HttpResponse:
    names = [name for _, name in form.fields["recipient"].choices]  # type: ignore[attr-defined]  # a ChoiceField
    values = {
        "form": form,
        "stop": stops.of(request.access.tenant).payments,
        "warning": lookalikes.warning(*names),
    }
    return render(request, "dashboard/payments/pay.html", values, status=status)


def _review(request: PageRequest, form: PayForm) -> HttpResponse:
    """What will happen, in names and amounts, before it does: judged as the order will be."""
    tenant, now = request.access.tenant, utc_now()
    try:
        preview = orders.preview(
            tenant_id=tenant.pk,
            mode=tenant.mode,
            order=_order(form),
            actor=actors.user(request.user.pk),
            now=now,
        )
    except DomainError as refusal:
        return _refused(request, form, refusal)
    values = _reviewed(request, form, preview, now)
    return render(request, "dashboard/payments/pay_review.html", values)


def _reviewed(
    request: PageRequest, form: PayForm, preview: Preview, now: datetime
) -> dict[str, object]:
    tenant, amount = request.access.tenant, form.cleaned_data["amount"]
    available = ledger.summary(tenant.pk).available
    shortfall = max(0, amount - available)
    method, speed = method_and_speed(form.cleaned_data["method"])
    first = automatic.methods(tenant.mode)[0].name if method == AUTO else method
    terms = METHODS[first].terms(tenant.mode)
    return {
        "form": form,
        "arrives_on": terms.arrival(now, speed, amount=amount),
        "recipient": dict(form.fields["recipient"].choices)[form.cleaned_data["recipient"]],  # type: ignore[attr-defined]  # a ChoiceField
        "warning": recipient_line(preview.recipient).warning,
        "method": dict(form.fields["method"].choices)[form.cleaned_data["method"]],  # type: ignore[attr-defined]
        "available": available,
        "available_after": available - amount,
        "shortfall": shortfall,
        "missing": dollars_text(shortfall),
        "is_behind": preview.is_behind,
        "stop": stops.of(tenant).payments,
        "needs_approval": preview.judged.confirm_until is not None,
        "rule": preview.judged.rule,
        "new": preview.judged.bounds.new,
    }


def _order(form: PayForm) -> Order:
    data = form.cleaned_data
    method, speed = method_and_speed(data["method"])
    return Order(
        id=form.what,
        recipient=data["recipient"],
        amount=data["amount"],
        method=method,
        speed=speed,
        description=data["description"],
        wait_for_funds=data["wait"],
    )


def _refused(request: PageRequest, form: PayForm, refusal: DomainError) -> HttpResponse:
    refusals.add_to(form, refusal, fields=_FIELDS)
    return _ask(request, form, status=422)


def _confirm(request: PageRequest, form: PayForm) -> HttpResponse:
    tenant = request.access.tenant
    try:
        payment, is_new = orders.place_once(
            tenant_id=tenant.pk,
            mode=tenant.mode,
            order=_order(form),
            actor=actors.user(request.user.pk),
            now=utc_now(),
            is_proven=request.is_proven,
        )
    except ProofNeeded:
        raise  # `tenant_form` asks, and comes back
    except DomainError as refusal:
        return _refused(request, form, refusal)
    if is_new:
        messages.success(request, _said(payment, stops.of(tenant).payments))
    else:
        messages.info(request, _said_again(payment))
    return redirect("dashboard:payment_detail", payment_id=payment.pk)


def _said_again(payment: Payment) -> str:
    """Tell a person who sent a form twice which payment it ordered, and that there is no second."""
    return (
        f"You already sent this form. The payment of {format_cents(payment.amount)} to"
        f" {payment.recipient.display_name} was created once, and nothing else was."
    )


def _said(payment: Payment, stop: str) -> str:
    """Tell a person what they ordered, and what it waits for."""
    what = f"{format_cents(payment.amount)} to {payment.recipient.display_name}"
    return f"You ordered a payment of {what}. {_next(payment, stop)}"


def _next(payment: Payment, stop: str) -> str:
    if payment.awaits_confirmation:
        asked = "We asked a second person to approve it. Nothing is sent until then."
        return f"{asked} {stop}".rstrip()
    if stop:
        return f"It is not sent yet. {stop}"
    if payment.status == PaymentStatus.WAITING_FOR_FUNDS:
        return "We send it when the balance covers it."
    return "This page shows when it is sent and when it arrives."
