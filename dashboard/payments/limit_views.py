"""The limits on money out: what is used of them, and what owners may change (decisions 0161 and
0174)."""

from __future__ import annotations

from datetime import datetime

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from common.clock import utc_now
from common.errors import DomainError
from dashboard.payments import limit_lines
from dashboard.payments.limit_forms import CoolDownForm, LimitsForm
from dashboard.shell import refusals
from dashboard.shell.access import PageRequest, tenant_form, tenant_page
from payments.models import PaymentSettings
from payments.services import (
    approval_defaults,
    approval_settings,
    cool_down,
    cool_down_settings,
    exemption,
    limit_settings,
    limits,
)
from payments.services.approval_settings import ROLES
from tenants import actors
from tenants.models import Role

_SAVED = "Saved. This applies to payments from now on."


@require_safe
@tenant_page()
def overview(request: PageRequest) -> HttpResponse:
    """Every limit with what is used of it, and who uses the most."""
    tenant, now = request.access.tenant, utc_now()
    rules = PaymentSettings.objects.filter(tenant_id=tenant.pk).first()
    in_force = limits.of_settings(rules, mode=tenant.mode, now=now)
    values = {
        "lines": limit_lines.standing_lines(tenant, now=now),
        "used": limit_lines.used_lines(tenant, in_force=in_force, now=now),
        "threshold": approval_defaults.threshold_of_settings(
            rules, tenant_id=tenant.pk, mode=tenant.mode, now=now
        ),
        "cool_down": cool_down.hours(rules, mode=tenant.mode, now=now),
        "is_exempt": exemption.is_alone(
            tenant_id=tenant.pk, actor=actors.user(request.user.pk), now=now
        ),
        "waits": bool(limit_lines.waiting(tenant, reader=request.user.pk, now=now)),
    }
    return render(request, "dashboard/payments/limits.html", values)


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(Role.OWNER, needs_proof=True)
def edit(request: PageRequest) -> HttpResponse:
    """All limits in one form. Those that let more through wait for a second person, or a day."""
    tenant, now = request.access.tenant, utc_now()
    known = limits.in_force(tenant_id=tenant.pk, mode=tenant.mode, now=now)
    form = LimitsForm(request.POST if request.method == "POST" else None, known=known)
    if form.is_valid():
        try:
            saved = limit_settings.change(
                tenant_id=tenant.pk,
                wanted=form.wanted,
                actor=actors.user(request.user.pk),
                now=now,
            )
        except DomainError as refusal:
            refusals.add_to(form, refusal, fields={})
        else:
            return _to_next(request, waits=saved.next_limits_at is not None)
    status = 422 if form.errors else 200
    values = {"form": form, "waits": _would_wait(request, now)}
    return render(request, "dashboard/payments/limits_edit.html", values, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(Role.OWNER, needs_proof=True)
def set_cool_down(request: PageRequest) -> HttpResponse:
    """For how long recipients are new. A shorter time waits for a second person, or a day."""
    tenant, now = request.access.tenant, utc_now()
    rules = PaymentSettings.objects.filter(tenant_id=tenant.pk).first()
    form = CoolDownForm(
        request.POST if request.method == "POST" else None,
        initial={"hours": cool_down.hours(rules, mode=tenant.mode, now=now)},
    )
    if form.is_valid():
        try:
            saved = cool_down_settings.set_hours(
                tenant_id=tenant.pk,
                hours=form.cleaned_data["hours"],
                actor=actors.user(request.user.pk),
                now=now,
            )
        except DomainError as refusal:
            refusals.add_to(form, refusal, fields={"coolDownHours": "hours"})
        else:
            return _to_next(request, waits=saved.next_cool_down_at is not None)
    status = 422 if form.errors else 200
    values = {
        "form": form,
        "waits": _would_wait(request, now),
        "is_exempt": exemption.is_alone(
            tenant_id=tenant.pk, actor=actors.user(request.user.pk), now=now
        ),
    }
    return render(request, "dashboard/payments/cool_down.html", values, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(*ROLES, needs_proof=True)
def change(request: PageRequest) -> HttpResponse:
    """What waits, and who approves says whether it may count."""
    if request.method == "POST":
        return _decide(request)
    now = utc_now()
    values = {
        "changes": limit_lines.waiting(request.access.tenant, reader=request.user.pk, now=now),
        "waits_until": request.access.waits_until(now),
    }
    return render(request, "dashboard/payments/limits_change.html", values)


def _would_wait(request: PageRequest, now: datetime) -> bool:
    """Whether what the reader loosens waits for somebody else, which a page promises only then."""
    return approval_settings.would_wait(request.access.tenant, actors.user(request.user.pk), now)


def _to_next(request: PageRequest, *, waits: bool) -> HttpResponse:
    if waits:
        return redirect("dashboard:payment_limits_change")
    messages.success(request, _SAVED)
    return redirect("dashboard:payment_limits")


def _decide(request: PageRequest) -> HttpResponse:
    rule = cool_down_settings if request.POST.get("what") == "cool_down" else limit_settings
    agrees = request.POST.get("decision") == "agree"
    act = rule.agree if agrees else rule.withdraw
    try:
        act(tenant_id=request.access.tenant.pk, actor=actors.user(request.user.pk), now=utc_now())
    except DomainError as refusal:
        messages.warning(request, refusal.detail)
    else:
        said = "The change is in effect." if agrees else "The limits stay as they are."
        messages.success(request, said)
    return redirect("dashboard:payment_limits")
