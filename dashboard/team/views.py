"""Who belongs to the tenant. Everybody looks; owners invite, change and remove."""

from __future__ import annotations

from datetime import datetime

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common import lookalikes
from common.clock import utc_now
from common.errors import DomainError
from dashboard.developers.api_keys.lines import key_line
from dashboard.payments.lines import payment_line
from dashboard.shell import refusals
from dashboard.shell.access import PageRequest, tenant_form, tenant_page
from dashboard.team import waiting
from dashboard.team.forms import ROLE_MEANINGS, InviteForm, RoleForm
from dashboard.team.lines import invitation_line, member_lines, removed_words
from payments.services import left_payments
from tenants import actors, selectors
from tenants.errors import TeamRefusal, TooManyInvitations
from tenants.models import Membership, Role
from tenants.services import invitations, keys, members

# So many payments of who leaves can be canceled on the page; the others wait for approval.
PAYMENTS_SHOWN_MAX = 100


@require_safe
@tenant_page()
def team(request: PageRequest) -> HttpResponse:
    tenant_id, now = request.access.tenant.pk, utc_now()
    is_owner = request.access.role == Role.OWNER
    asked = selectors.open_invitations(tenant_id=tenant_id) if is_owner else ()
    lines = member_lines(selectors.members(tenant_id=tenant_id), reader_id=request.user.pk, now=now)
    invited = [invitation_line(row, now=now) for row in asked]
    values = {
        "is_owner": is_owner,
        "members": lines,
        "invitations": invited,
        "warning": lookalikes.address_warning(
            *(line.email for line in lines), *(line.email for line in invited)
        ),
        "names_warning": lookalikes.warning(*(line.name for line in lines)),
    }
    return render(request, "dashboard/team/list.html", values)


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(Role.OWNER, needs_proof=True)
def invite(request: PageRequest) -> HttpResponse:
    form = InviteForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            invitations.invite(
                tenant_id=request.access.tenant.pk,
                email=form.cleaned_data["email"],
                role=Role(form.cleaned_data["role"]),
                actor=actors.user(request.user.pk),
                now=utc_now(),
            )
            messages.success(request, f"The invitation to {form.cleaned_data['email']} is sent.")
            return redirect("dashboard:team")
        except DomainError as refusal:
            refusals.add_to(form, refusal, fields={})
    values = {
        "form": form,
        "meanings": ROLE_MEANINGS,
        "wait_hours": waiting.hours_of_newcomers(
            request.access.tenant, by=request.user.pk, now=utc_now()
        ),
    }
    return render(request, "dashboard/team/invite.html", values, status=_status(form))


@require_POST
@tenant_form(Role.OWNER, needs_proof=True)
def resend(request: PageRequest, invitation_id: str) -> HttpResponse:
    try:
        asked, is_new = invitations.resend(
            tenant_id=request.access.tenant.pk,
            invitation_id=invitation_id,
            actor=actors.user(request.user.pk),
            now=utc_now(),
        )
    except TooManyInvitations as refusal:
        messages.error(request, refusal.detail)
    else:
        if is_new:
            said = f"{asked.email} gets a new link. The older one no longer works."
        else:
            said = f"{asked.email} was sent a link within the last minute, so no new one was sent."
        messages.success(request, said)
    return redirect("dashboard:team")


@require_POST
@tenant_form(Role.OWNER, needs_proof=True)
def revoke(request: PageRequest, invitation_id: str) -> HttpResponse:
    ended = invitations.revoke(
        tenant_id=request.access.tenant.pk,
        invitation_id=invitation_id,
        actor=actors.user(request.user.pk),
        now=utc_now(),
    )
    messages.success(request, f"The invitation to {ended.email} is revoked.")
    return redirect("dashboard:team")


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(Role.OWNER, needs_proof=True)
def role(request: PageRequest, membership_id: str) -> HttpResponse:
    """Another role. Keys of who is an owner no more end, but for those that the other one takes."""
    tenant_id, now = request.access.tenant.pk, utc_now()
    member = selectors.member(tenant_id=tenant_id, membership_id=membership_id)
    posted = request.POST if request.method == "POST" else None
    form = RoleForm(posted, initial={"role": member.role})
    if form.is_valid():
        try:
            changed = members.change_role(
                tenant_id=tenant_id,
                membership_id=member.pk,
                role=Role(form.cleaned_data["role"]),
                take_over=request.POST.getlist("take_over"),
                cancel=request.POST.getlist("cancel"),
                actor=actors.user(request.user.pk),
                now=now,
            )
            messages.success(request, waiting.changed_words(changed, now=now))
            return redirect("dashboard:team")
        except DomainError as refusal:
            refusals.add_to(form, refusal, fields={})
    values = {
        "form": form,
        "meanings": ROLE_MEANINGS,
        "wait_hours": waiting.hours_of_member(member, by=request.user.pk, now=now),
        "approves_from": waiting.approves_from(member, now=now),
        **_leaving(request, member, now),
    }
    return render(request, "dashboard/team/member_role.html", values, status=_status(form))


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(Role.OWNER, needs_proof=True)
def remove(request: PageRequest, membership_id: str) -> HttpResponse:
    """GET asks, POST ends the membership at once, and the keys that nobody takes over. Payments
    wait for a second person, or are canceled."""
    tenant_id = request.access.tenant.pk
    member = selectors.member(tenant_id=tenant_id, membership_id=membership_id)
    now = utc_now()
    if request.method != "POST":
        values = _leaving(request, member, now)
        return render(request, "dashboard/team/member_remove.html", values)
    try:
        ended = members.remove(
            tenant_id=tenant_id,
            membership_id=member.pk,
            take_over=request.POST.getlist("take_over"),
            cancel=request.POST.getlist("cancel"),
            actor=actors.user(request.user.pk),
            now=now,
        )
        said = removed_words(member.user.get_full_name(), ended)
        messages.success(request, said)
    except TeamRefusal as refusal:
        messages.error(request, refusal.detail)
    return redirect("dashboard:team")


@require_POST
@tenant_form(Role.OWNER, needs_proof=True)
def sign_in_rule(request: PageRequest) -> HttpResponse:
    """Ask every member for a second factor, or no longer."""
    required = request.POST.get("required") == "yes"
    try:
        members.require_second_factor(
            tenant_id=request.access.tenant.pk,
            required=required,
            actor=actors.user(request.user.pk),
            now=utc_now(),
        )
        said = "now requires a second factor" if required else "now allows a password alone again"
        messages.success(request, f"Everybody {said}.")
    except TeamRefusal as refusal:
        messages.error(request, refusal.detail)
    return redirect("dashboard:team")


def _leaving(request: PageRequest, member: Membership, now: datetime) -> dict[str, object]:
    """Who leaves, or is an owner no more, the keys that end with it, the payments that wait or are
    canceled, and what to look at twice."""
    left = keys.made_by(tenant_id=member.tenant_id, person_id=member.user_id, now=now)
    unsent = left_payments.unapproved(tenant_id=member.tenant_id, user_id=member.user_id)
    most = PAYMENTS_SHOWN_MAX
    payments = list(unsent.order_by("-created_at", "-pk")[:most])
    return {
        "member": member,
        "keys": [key_line(key, now=now) for key in left],
        "payments": [payment_line(row) for row in payments],
        "more_payments": unsent.count() - len(payments) if len(payments) == most else 0,
        "is_you": member.user_id == request.user.pk,
        "names_warning": lookalikes.warning(
            member.user.get_full_name(),
            *(key.name for key in left),
            *(row.recipient.display_name for row in payments),
        ),
        "address_warning": lookalikes.address_warning(member.user.email),
    }


def _status(form: InviteForm | RoleForm) -> int:
    return 422 if form.errors else 200
