"""The magic link: GET and HEAD show the approval, POST answers it.

Mail scanners open every link, so nothing but a POST with a CSRF token changes anything.
"""

from __future__ import annotations

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods

from approvals import answers, selectors
from approvals.errors import AmountMismatch, LinkEnded, UnknownApproval
from common.clock import utc_now
from common.database import doors
from common.errors import DomainError, ErrorKind
from dashboard.approvals.forms import ApproveForm, DeclineForm
from dashboard.approvals.lines import prospect
from dashboard.shell.magic_links import magic_link_page


@magic_link_page
@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_variables()
def confirmation(request: HttpRequest, token: str) -> HttpResponse:
    """The approval that the link is about, for whoever holds the link."""
    try:
        is_answer = request.method == "POST"
        # All that follows sees the rows of this tenant alone (decision 0191).
        with doors.of_tenant(selectors.tenant_of_link(token=token), only_reads=not is_answer):
            return _answer(request, token) if is_answer else _show(request, token)
    except UnknownApproval:
        return render(request, "dashboard/approvals/link/unknown.html", status=404)
    except LinkEnded as refusal:
        values = {"refusal": refusal}
        return render(request, "dashboard/approvals/link/ended.html", values, status=410)


def _answer(request: HttpRequest, token: str) -> HttpResponse:
    try:
        declines = request.POST.get("decision") == "decline"
        return _decline(request, token) if declines else _approve(request, token)
    except (UnknownApproval, LinkEnded):
        raise
    except DomainError as refusal:
        status = 503 if refusal.kind is ErrorKind.UNAVAILABLE else 409
        return _show(request, token, refusal=refusal, status=status)


def _approve(request: HttpRequest, token: str) -> HttpResponse:
    form = ApproveForm(request.POST)
    if not form.is_valid():
        return _show(request, token, approve=form, status=422)
    try:
        answers.approve(token=token, typed_amount=form.cleaned_data["typed_amount"], now=utc_now())
    except AmountMismatch as refusal:
        form.add_error("typed_amount", refusal.detail)
        return _show(request, token, approve=form, status=422)
    return redirect("confirmation", token=token)


def _decline(request: HttpRequest, token: str) -> HttpResponse:
    form = DeclineForm(request.POST)
    if not form.is_valid():
        return _show(request, token, decline=form, status=422)
    answers.decline(token=token, reason=form.cleaned_data["reason"], now=utc_now())
    return redirect("confirmation", token=token)


def _show(
    request: HttpRequest,
    token: str,
    *,
    approve: forms.Form | None = None,
    decline: forms.Form | None = None,
    refusal: DomainError | None = None,
    status: int = 200,
) -> HttpResponse:
    approval = selectors.by_link(token=token, now=utc_now())
    context = {
        "approval": approval,
        "prospect": prospect(approval),
        "approve": approve or ApproveForm(),
        "decline": decline or DeclineForm(),
        "refusal": refusal,
    }
    template = (
        "dashboard/approvals/link/open.html"
        if approval.state == "open"
        else "dashboard/approvals/link/closed.html"
    )
    return render(request, template, context, status=status)
