"""Above which amount a second person approves payments, and a change of it that waits."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from common import brand
from common.clock import utc_now
from common.errors import DomainError
from dashboard.payments.forms import ApprovalLimitForm
from dashboard.shell import refusals
from dashboard.shell.access import PageRequest, tenant_form
from dashboard.shell.fields import dollars_text
from payments.models import PaymentSettings
from payments.services import approval_settings, approvals
from payments.services.approval_settings import ROLES
from tenants import actors
from tenants import selectors as tenants
from tenants.models import Role


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(Role.OWNER, needs_proof=True)
def limit(request: PageRequest) -> HttpResponse:
    """The limit. One that protects less waits for a second person, or a day."""
    tenant_id, now = request.access.tenant.pk, utc_now()
    shown = dollars_text(
        approvals.approval_threshold(tenant_id=tenant_id, mode=request.access.tenant.mode, now=now)
    )
    form = ApprovalLimitForm(
        request.POST if request.method == "POST" else None, initial={"threshold": shown}
    )
    if form.is_valid():
        try:
            saved = approval_settings.set_threshold(
                tenant_id=tenant_id,
                threshold=form.cleaned_data["threshold"],
                actor=actors.user(request.user.pk),
                now=now,
            )
        except DomainError as refusal:
            refusals.add_to(form, refusal, fields={"approvalThreshold": "threshold"})
        else:
            if saved.next_at:
                return redirect("dashboard:payment_approval_change")
            messages.success(request, "Saved. This applies to payments from now on.")
            return redirect("dashboard:payments")
    values = {
        "form": form,
        "approvers": tenants.member_emails(tenant_id=tenant_id, roles=ROLES),
        "change": approvals.waiting_change(tenant_id=tenant_id, now=now),
        "waits": approval_settings.would_wait(
            request.access.tenant, actors.user(request.user.pk), now
        ),
    }
    status = 422 if form.errors else 200
    return render(request, "dashboard/payments/approval_limit.html", values, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(*ROLES, needs_proof=True)
def change(request: PageRequest) -> HttpResponse:
    """What waits, and who approves says whether it may count."""
    tenant_id, now = request.access.tenant.pk, utc_now()
    if request.method == "POST":
        return _decide(request)
    waiting = approvals.waiting_change(tenant_id=tenant_id, now=now)
    values = {
        "change": waiting,
        "asked_by": _asked_by(waiting),
        "is_own": waiting is not None and waiting.next_by == request.user.pk,
        "waits_until": request.access.waits_until(now),
    }
    return render(request, "dashboard/payments/approval_limit_change.html", values)


def _asked_by(waiting: PaymentSettings | None) -> str:
    """Name who asked; our own staff appear as support, never by name."""
    if waiting is None:
        return ""
    members = tenants.members(tenant_id=waiting.tenant_id).filter(user_id=waiting.next_by)
    person = members.first()
    return person.user.email if person else brand.support()


def _decide(request: PageRequest) -> HttpResponse:
    agrees = request.POST.get("decision") == "agree"
    act = approval_settings.agree if agrees else approval_settings.refuse
    try:
        act(tenant_id=request.access.tenant.pk, actor=actors.user(request.user.pk), now=utc_now())
    except DomainError as refusal:
        messages.warning(request, refusal.detail)
    else:
        said = "The change is in effect." if agrees else "The limit stays as it is."
        messages.success(request, said)
    return redirect("dashboard:payments")
