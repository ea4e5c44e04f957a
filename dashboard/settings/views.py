"""The tenant itself, what limits it, and the messages a member gets about it."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from common.clock import utc_now
from common.errors import DomainError
from dashboard.settings.forms import NameForm, NoticesForm, RetriesForm
from dashboard.settings.limits import limit_lines
from dashboard.shell import refusals
from dashboard.shell.access import PageRequest, tenant_form
from funding.services import limits, retries
from tenants import actors
from tenants.models import Role
from tenants.services import accounts, preferences


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form()
def settings(request: PageRequest) -> HttpResponse:
    """Everybody reads; owners rename."""
    tenant, now = request.access.tenant, utc_now()
    form = NameForm(
        request.POST if request.method == "POST" else None, initial={"name": tenant.name}
    )
    if request.method == "POST" and request.access.role != Role.OWNER:
        raise PermissionDenied("Only owners can change settings.")
    if form.is_valid():
        try:
            accounts.rename(
                tenant_id=tenant.pk,
                name=form.cleaned_data["name"],
                actor=actors.user(request.user.pk),
                now=now,
            )
            messages.success(request, "The name is saved.")
            return redirect("dashboard:settings")
        except DomainError as refusal:
            refusals.add_to(form, refusal, fields={})
    used = limits.usage(tenant_id=tenant.pk, now=now)
    values = {
        "form": form,
        "is_owner": request.access.role == Role.OWNER,
        "limits": limit_lines(limits.of(tenant.pk), used),
    }
    return render(
        request, "dashboard/settings/tenant.html", values, status=422 if form.errors else 200
    )


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form()
def notifications(request: PageRequest) -> HttpResponse:
    """Which e-mails this person gets about this tenant."""
    if request.access.viewed_until:
        raise PermissionDenied("Members choose their own messages. Staff get none.")
    membership = request.access.membership
    form = NoticesForm(request.POST if request.method == "POST" else None, membership=membership)
    if form.is_valid():
        preferences.choose_notices(
            membership_id=membership.pk,
            chosen=form.cleaned_data,
            actor=actors.user(request.user.pk),
            now=utc_now(),
        )
        messages.success(request, "Your choice is saved.")
        return redirect("dashboard:notifications")
    approves = request.access.role in (Role.OWNER, Role.APPROVER)
    return render(
        request, "dashboard/settings/notifications.html", {"form": form, "approves": approves}
    )


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form()
def returned_topups(request: PageRequest) -> HttpResponse:
    """What happens with top-ups that come back for want of funds. Owners change it."""
    tenant, is_owner = request.access.tenant, request.access.role == Role.OWNER
    if request.method == "POST" and not is_owner:
        raise PermissionDenied("Only owners can change settings.")
    rule = retries.rule(tenant.pk)
    form = RetriesForm(
        request.POST if request.method == "POST" else None,
        initial={"times": rule.times, "after_days": rule.after_days},
    )
    if form.is_valid():
        retries.set_rule(
            tenant_id=tenant.pk,
            times=form.cleaned_data["times"],
            after_days=form.cleaned_data["after_days"],
            actor=actors.user(request.user.pk),
            now=utc_now(),
        )
        messages.success(request, "Your choice is saved.")
        return redirect("dashboard:settings_retries")
    for field in form.fields.values():
        field.disabled = not is_owner
    return render(
        request,
        "dashboard/settings/retries.html",
        {"form": form, "is_owner": is_owner},
        status=422 if form.errors else 200,
    )
