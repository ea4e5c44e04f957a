"""Pages about a person's own account, whichever tenants they belong to."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from common.clock import utc_now
from common.errors import DomainError
from dashboard.account.forms import PersonForm
from dashboard.shell import refusals
from dashboard.shell.access import PersonRequest
from tenants import enrolment, selectors
from tenants.services import accounts, sessions


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def profile(request: PersonRequest) -> HttpResponse:
    """Name, tenants, and the way to everything else of the account."""
    user, now = request.user, utc_now()
    form = PersonForm(
        request.POST if request.method == "POST" else None, initial={"name": user.name}
    )
    if form.is_valid():
        try:
            accounts.rename_person(user_id=user.pk, name=form.cleaned_data["name"], now=now)
            messages.success(request, "Your name is saved.")
            return redirect("profile")
        except DomainError as refusal:
            refusals.add_to(form, refusal, fields={})
    values = {"form": form, "memberships": selectors.memberships(user_id=user.pk)}
    return render(
        request, "dashboard/account/profile.html", values, status=422 if form.errors else 200
    )


@require_http_methods(["GET", "HEAD"])
@login_required
def enroll(request: PersonRequest, token: str) -> HttpResponse:
    """The link that a colleague sent: this session may set up a second factor."""
    if not enrolment.accept(request, token=token):
        messages.warning(request, f"This link is not yours, or it is over. {enrolment.ASK}")
    return redirect("mfa_index")


@require_POST
@login_required
def end_session(request: PersonRequest, session_id: int) -> HttpResponse:
    """Sign another browser of this person out. One that is gone already is fine."""
    sessions.end(user_id=request.user.pk, session_id=session_id, now=utc_now())
    messages.success(request, "That browser is signed out.")
    return redirect("usersessions_list")
