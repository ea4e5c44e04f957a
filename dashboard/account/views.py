"""Pages about a person's own account, whichever tenants they belong to."""

from __future__ import annotations

from allauth.account.adapter import get_adapter
from allauth.core import ratelimit
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common.clock import utc_now
from common.errors import DomainError
from dashboard.account.forms import PersonForm
from dashboard.shell import refusals
from dashboard.shell.access import PersonRequest
from tenants import enrolment, selectors
from tenants.account_transactions import in_one_transaction
from tenants.services import accounts, enrolments, sessions
from tenants.sso import reach

_NOT_HERE = (
    "This link has expired or was requested in another browser. It works once, in the browser "
    "where you asked for it. If that was not you, change your password."
)


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
    reached = reach.tenants_of(request, tuple(selectors.memberships(user_id=user.pk)))
    values = {"form": form, "memberships": reached}
    return render(
        request, "dashboard/account/profile.html", values, status=422 if form.errors else 200
    )


@require_safe
@login_required
def first_password(request: PersonRequest) -> HttpResponse:
    """Lead who has no password to the link that is mailed. A password opens every tenant of the
    person, so neither a provider of single sign-on nor whoever holds a session may choose it."""
    if request.user.has_usable_password():
        return redirect("account_change_password")
    messages.info(request, "You have no password yet. We mail you a link to choose one.")
    return redirect("account_reset_password")


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@in_one_transaction
def ask_to_enroll(request: PersonRequest) -> HttpResponse:
    """Before the first second factor: mail the person a link that lets this browser set one up."""
    user = request.user
    if enrolment.is_sent_by_colleague(user) or enrolment.may_enroll(request, user=user):
        return redirect("mfa_index")
    if request.method != "POST":
        return _enrolment_page(request)
    if not ratelimit.consume(request, action="enrolment_link", key=user.pk):
        messages.error(request, "We sent you several links already. Try again in an hour.")
        return _enrolment_page(request, status=429)
    now = utc_now()
    address = get_adapter().get_client_ip(request)
    browser = enrolment.expect(request, now=now)
    enrolments.send_own(user=user, browser=browser, address=address, now=now)
    return _enrolment_page(request, is_sent=True)


def _enrolment_page(
    request: PersonRequest, *, is_sent: bool = False, status: int = 200
) -> HttpResponse:
    values = {"is_sent": is_sent, "minutes": enrolment.OWN_LINK_MINUTES}
    return render(request, "dashboard/account/ask_to_enroll.html", values, status=status)


@require_http_methods(["GET", "HEAD"])
@login_required
def enroll(request: PersonRequest, token: str) -> HttpResponse:
    """The link that a colleague sent, or that this browser asked for: now it may set up a second
    factor."""
    user = request.user
    if enrolment.accept(request, user=user, token=token, now=utc_now()):
        messages.success(request, "Now add a passkey or set up an authenticator app.")
    elif enrolment.is_sent_by_colleague(user):
        messages.warning(request, "This link belongs to somebody else, or it has expired.")
    elif not enrolment.may_enroll(request, user=user):
        messages.warning(request, _NOT_HERE)
        return redirect("ask_to_enroll")
    return redirect("mfa_index")


@require_POST
@login_required
def end_session(request: PersonRequest, session_id: int) -> HttpResponse:
    """Sign another browser of this person out. One that is gone already is fine."""
    sessions.end(user_id=request.user.pk, session_id=session_id, now=utc_now())
    messages.success(request, "That browser is signed out.")
    return redirect("usersessions_list")
