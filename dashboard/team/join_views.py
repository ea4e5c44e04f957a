"""The link of an invitation: GET asks, POST joins. Mail scanners open links, and change nothing."""

from __future__ import annotations

from allauth.account.utils import perform_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from common.clock import utc_now
from common.errors import DomainError
from dashboard.shell import refusals
from dashboard.shell.access import look_at
from dashboard.shell.magic_links import magic_link_page
from dashboard.team.forms import JoinForm
from tenants import enrolment, proofs
from tenants.account_transactions import in_one_transaction
from tenants.errors import InvitationClosed
from tenants.models import Invitation
from tenants.services import invitations


@magic_link_page
@require_http_methods(["GET", "HEAD", "POST"])
@in_one_transaction
@sensitive_post_parameters("password")
@sensitive_variables()
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """For whoever holds the link: join with the account that is signed in, or with a new one."""
    try:
        asked = invitations.find(token=token, now=utc_now())
        if request.user.is_authenticated:
            return _as_somebody(request, token, asked)
        return _as_stranger(request, token, asked)
    except InvitationClosed:
        return render(request, "dashboard/team/join/closed.html", status=404)


def _as_somebody(request: HttpRequest, token: str, asked: Invitation) -> HttpResponse:
    if not request.user.is_authenticated or request.user.email != asked.email:
        return render(
            request, "dashboard/team/join/other_person.html", {"invitation": asked}, status=403
        )
    if request.method != "POST":
        return render(request, "dashboard/team/join/accept.html", {"invitation": asked})
    membership = invitations.accept(token=token, user=request.user, now=utc_now())
    look_at(request, membership.tenant_id)
    return redirect("dashboard:overview")


def _as_stranger(request: HttpRequest, token: str, asked: Invitation) -> HttpResponse:
    if invitations.has_account(asked):
        return render(request, "dashboard/team/join/sign_in.html", {"invitation": asked})
    form = JoinForm(request.POST if request.method == "POST" else None, email=asked.email)
    if form.is_valid():
        try:
            user = invitations.join(token=token, now=utc_now(), **form.cleaned_data)
            proofs.password_chosen(request, user=user)
            response: HttpResponse = perform_login(
                request, user, redirect_url=reverse("dashboard:overview")
            )
            enrolment.open_for_a_while(request, now=utc_now())
            look_at(request, asked.tenant_id)
            return response
        except DomainError as refusal:
            if isinstance(refusal, InvitationClosed):
                raise
            refusals.add_to(form, refusal, fields={})
    values = {"invitation": asked, "form": form}
    return render(
        request, "dashboard/team/join/sign_up.html", values, status=422 if form.errors else 200
    )
