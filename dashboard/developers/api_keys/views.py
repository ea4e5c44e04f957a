"""Keys of the REST API: only owners hand them out and end them."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_safe

from common.clock import utc_now
from common.errors import DomainError
from dashboard.developers.api_keys.forms import FIELDS, ApiKeyForm, KeySecretForm, RotateForm
from dashboard.developers.api_keys.lines import key_line, key_lines
from dashboard.shell import refusals
from dashboard.shell.access import PageRequest, tenant_form, tenant_page
from dashboard.shell.paging import page
from payments.services import left_payments
from tenants import actors, selectors
from tenants.models import Role
from tenants.services import key_switches, keys
from tenants.services.keys import IssuedKey


@require_safe
@tenant_page(Role.OWNER, Role.MEMBER)
def api_keys(request: PageRequest) -> HttpResponse:
    rows = selectors.api_keys(tenant_id=request.access.tenant.pk)
    found = page(rows, before=request.GET.get("before", ""))
    values = {
        "lines": key_lines(found.rows, now=utc_now()),
        "page": found,
        "may_manage": request.access.role == Role.OWNER,
    }
    return render(request, "dashboard/developers/api_keys/list.html", values)


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(Role.OWNER, needs_proof=True)
@sensitive_variables()
def issue(request: PageRequest) -> HttpResponse:
    """A form; then the key, on this answer alone. It is not redirected to."""
    form = ApiKeyForm(_sent(request), tenant=request.access.tenant)
    if form.is_valid():
        try:
            issued = keys.issue(
                tenant=request.access.tenant,
                name=form.cleaned_data["name"],
                scopes=form.cleaned_data["scopes"],
                expires_at=form.cleaned_data["expires_on"],
                allowed_networks=form.cleaned_data["networks"],
                may_loosen_auto_funding=not form.cleaned_data["forbids_loosening"],
                text=form.secret,
                actor=actors.user(request.user.pk),
                now=utc_now(),
            )
            return _reveal(request, issued)
        except DomainError as refusal:
            refusals.add_to(form, refusal, fields=FIELDS)
    return _ask(request, "issue", form)


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(Role.OWNER, needs_proof=True)
@sensitive_variables()
def rotate(request: PageRequest, key_id: str) -> HttpResponse:
    """Asks how long the old key keeps working; then shows the new one, like `issue`."""
    key = selectors.api_key(tenant_id=request.access.tenant.pk, key_id=key_id)
    form = RotateForm(_sent(request), tenant=request.access.tenant, about=key.pk)
    if form.is_valid():
        try:
            issued = keys.rotate(
                key=key,
                overlap=form.cleaned_data["overlap"],
                text=form.secret,
                actor=actors.user(request.user.pk),
                now=utc_now(),
            )
            return _reveal(request, issued)
        except DomainError as refusal:
            refusals.add_to(form, refusal, fields=FIELDS)
    return _ask(request, "rotate", form, key=key_line(key, now=utc_now()))


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(Role.OWNER, needs_proof=True)
def revoke(request: PageRequest, key_id: str) -> HttpResponse:
    """GET asks, and says what becomes of the key's payments; POST ends the key at once."""
    key = selectors.api_key(tenant_id=request.access.tenant.pk, key_id=key_id)
    if request.method != "POST":
        rows = left_payments.unapproved_of_key(tenant_id=key.tenant_id, key_id=key.pk)
        unsent = rows.count()
        values = {
            "key": key_line(key, now=utc_now()),
            "unsent": unsent,
            "are_approved": left_payments.has_approvers(
                list(rows.order_by("requires_confirmation")[:1])
            )
            if unsent
            else False,
        }
        return render(request, "dashboard/developers/api_keys/revoke.html", values)
    keys.revoke(key_id=key.pk, actor=actors.user(request.user.pk), now=utc_now())
    messages.success(request, f"{key.name} is revoked.")
    return redirect("dashboard:api_keys")


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(Role.OWNER, needs_proof=True)
def loosening(request: PageRequest, key_id: str) -> HttpResponse:
    """GET asks, POST says whether the key may loosen auto-funding from its next request on."""
    key = selectors.api_key(tenant_id=request.access.tenant.pk, key_id=key_id)
    if request.method != "POST":
        line = key_line(key, now=utc_now())
        return render(request, "dashboard/developers/api_keys/loosening.html", {"key": line})
    allowed = request.POST.get("allowed") == "yes"
    key_switches.let_loosen_auto_funding(
        key_id=key.pk, allowed=allowed, actor=actors.user(request.user.pk), now=utc_now()
    )
    may = "can" if allowed else "can no longer"
    messages.success(request, f"{key.name} {may} loosen auto-funding.")
    return redirect("dashboard:api_keys")


def _sent(request: PageRequest) -> object:
    return request.POST if request.method == "POST" else None


@sensitive_variables()
def _reveal(request: PageRequest, issued: IssuedKey) -> HttpResponse:
    return render(request, "dashboard/developers/api_keys/issued.html", {"issued": issued})


def _ask(
    request: PageRequest, template: str, form: KeySecretForm, **values: object
) -> HttpResponse:
    status = 422 if form.errors else 200
    return render(
        request,
        f"dashboard/developers/api_keys/{template}.html",
        {"form": form, **values},
        status=status,
    )
