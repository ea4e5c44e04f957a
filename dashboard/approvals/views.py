"""Approvals for people who are signed in: what waits, deciding it, asking again, the history."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from approvals import answers, policies, requests, selectors
from approvals.errors import ApprovalClosed, ApprovalResentRecently
from approvals.policies import Approver
from common.clock import utc_now
from common.errors import DomainError
from dashboard.approvals.forms import ApproveForm, DeclineForm
from dashboard.approvals.lines import (
    approval_line,
    approved_words,
    declined_words,
    prospect,
)
from dashboard.auto_funding.state import people
from dashboard.shell import refusals
from dashboard.shell.access import MONEY, PageRequest, tenant_form, tenant_page
from dashboard.shell.paging import SIZE, Page
from tenants import actors
from tenants import selectors as tenants
from tenants.models import Role

_FIELDS = {"typedAmount": "typed_amount"}


@require_safe
@tenant_page()
def approvals(request: PageRequest) -> HttpResponse:
    """What waits, those that end first in front, and the history behind it."""
    tenant_id, now, email = request.access.tenant.pk, utc_now(), request.user.email
    before = request.GET.get("before", "")
    waiting = selectors.open_approvals(tenant_id=tenant_id, now=now)
    found = selectors.closed_approvals(tenant_id=tenant_id, now=now, before=before, size=SIZE + 1)
    new = tenants.new_approvers(tenant_id=tenant_id, now=now) if waiting else {}
    older = found[SIZE - 1].id if len(found) > SIZE else ""
    values = {
        "waiting": [approval_line(view, email=email, new=new) for view in waiting],
        "decided": [approval_line(view, email=email) for view in found[:SIZE]],
        "page": Page(rows=found[:SIZE], older=older, is_newest=not before),
    }
    return render(request, "dashboard/approvals/list.html", values)


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(needs_proof=True)
def approval(request: PageRequest, approval_id: str) -> HttpResponse:
    """One approval. Who was asked answers here; that of money in also by the link in the e-mail."""
    if request.method != "POST":
        return _show(request, approval_id)
    declines = request.POST.get("decision") == "decline"
    form: forms.Form = DeclineForm(request.POST) if declines else ApproveForm(request.POST)
    if form.is_valid():
        try:
            decided = _decide(request, approval_id, form)
        except ApprovalClosed as refusal:
            messages.warning(request, refusal.detail)
        except DomainError as refusal:
            refusals.add_to(form, refusal, fields=_FIELDS)
        else:
            messages.success(request, decided)
    if form.errors:
        return _show(request, approval_id, form=form)
    return redirect("dashboard:approval", approval_id=approval_id)


@require_POST
@tenant_form(*MONEY, Role.APPROVER)
def resend(request: PageRequest, approval_id: str) -> HttpResponse:
    """Mail the approvers once more, at most every ten minutes."""
    tenant_id, now = request.access.tenant.pk, utc_now()
    view, _ = selectors.find(
        tenant_id=tenant_id, approval_id=approval_id, email=request.user.email, now=now
    )
    try:
        asked = requests.resend(
            policies.get(view.kind),
            tenant_id=tenant_id,
            subject_id=view.subject_id,
            actor=actors.user(request.user.pk),
            now=now,
        )
    except (ApprovalClosed, ApprovalResentRecently) as refusal:
        messages.warning(request, refusals.sentence(refusal))
    else:
        messages.success(request, f"We sent a new e-mail to {people(asked)}.")
    return redirect("dashboard:approvals")


def _decide(request: PageRequest, approval_id: str, form: forms.Form) -> str:
    """Give the answer; returns a sentence that says which one was given."""
    by = Approver(email=request.user.email, actor=actors.user(request.user.pk))
    tenant_id, now = request.access.tenant.pk, utc_now()
    view, _ = selectors.find(
        tenant_id=tenant_id, approval_id=approval_id, email=request.user.email, now=now
    )
    if isinstance(form, DeclineForm):
        answers.decline_signed_in(
            tenant_id=tenant_id,
            approval_id=approval_id,
            by=by,
            reason=form.cleaned_data["reason"],
            now=now,
        )
        return declined_words(view)
    answers.approve_signed_in(
        tenant_id=tenant_id,
        approval_id=approval_id,
        by=by,
        typed_amount=form.cleaned_data["typed_amount"],
        now=now,
    )
    return approved_words(view)


def _show(
    request: PageRequest, approval_id: str, *, form: forms.Form | None = None
) -> HttpResponse:
    email, now = request.user.email, utc_now()
    view, may_decide = selectors.find(
        tenant_id=request.access.tenant.pk, approval_id=approval_id, email=email, now=now
    )
    new = tenants.new_approvers(tenant_id=view.tenant_id, now=now) if view.state == "open" else {}
    values = {
        "approval": view,
        "line": approval_line(view, email=email, new=new),
        "prospect": prospect(view),
        "approvers": view.approvers,
        "may_decide": may_decide,
        "waits_until": request.access.waits_until(now) if view.kind == "payment" else None,
        "approve": form if isinstance(form, ApproveForm) else ApproveForm(),
        "decline": form if isinstance(form, DeclineForm) else DeclineForm(),
        "failed": form,
    }
    status = 422 if form is not None else 200
    return render(request, "dashboard/approvals/detail.html", values, status=status)
