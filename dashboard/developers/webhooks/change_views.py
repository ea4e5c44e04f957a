"""Register, change, switch and remove webhook endpoints, and rotate their secrets: owners only."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from common import ids
from common.clock import utc_now
from common.errors import DomainError
from dashboard.developers.webhooks.forms import (
    FIELDS,
    EditEndpointForm,
    EndpointForm,
    RotateSecretForm,
    values_of,
)
from dashboard.shell import refusals
from dashboard.shell.access import PageRequest, tenant_form
from tenants import actors
from tenants.models import Role
from webhooks import selectors
from webhooks.errors import SecretsOverlap
from webhooks.models import WebhookEndpoint
from webhooks.services import endpoints, urls
from webhooks.services.endpoints import WithSecret
from webhooks.states import EndpointStatus


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(Role.OWNER)
@sensitive_variables()
def register(request: PageRequest) -> HttpResponse:
    """A form; then the endpoint's secret, on this answer alone."""
    tenant = request.access.tenant
    form = EndpointForm(_sent(request), tenant_id=tenant.pk, what=ids.new("wh"))
    if form.is_valid():
        try:
            made = endpoints.register(
                tenant_id=tenant.pk,
                endpoint_id=form.what,
                url=urls.check(form.cleaned_data["url"], mode=tenant.mode),
                events=form.chosen,
                description=form.cleaned_data["description"],
                actor=actors.user(request.user.pk),
                now=utc_now(),
            )
            return _reveal(request, made)
        except DomainError as refusal:
            refusals.add_to(form, refusal, fields=FIELDS)
    return _ask(request, "form", form)


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(Role.OWNER)
def edit(request: PageRequest, endpoint_id: str) -> HttpResponse:
    tenant = request.access.tenant
    row = selectors.endpoint(tenant_id=tenant.pk, endpoint_id=endpoint_id)
    form = EditEndpointForm(
        _sent(request), tenant_id=tenant.pk, what=row.pk, initial=values_of(row)
    )
    if form.is_valid():
        try:
            endpoints.update(
                tenant_id=tenant.pk,
                endpoint_id=row.pk,
                url=urls.check(form.cleaned_data["url"], mode=tenant.mode),
                events=form.chosen,
                description=form.cleaned_data["description"],
                actor=actors.user(request.user.pk),
                now=utc_now(),
            )
            messages.success(request, "Saved.")
            return redirect("dashboard:webhook", endpoint_id=row.pk)
        except DomainError as refusal:
            refusals.add_to(form, refusal, fields=FIELDS)
    return _ask(request, "form", form, endpoint=row)


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(Role.OWNER)
@sensitive_variables()
def rotate(request: PageRequest, endpoint_id: str) -> HttpResponse:
    """Asks how long the old secret signs as well; then shows the new one."""
    tenant_id = request.access.tenant.pk
    row = selectors.endpoint(tenant_id=tenant_id, endpoint_id=endpoint_id)
    form = RotateSecretForm(_sent(request), tenant_id=tenant_id, about=row.pk)
    if form.is_valid():
        try:
            made = endpoints.rotate_secret(
                tenant_id=tenant_id,
                endpoint_id=row.pk,
                overlap=form.cleaned_data["overlap"],
                secret=form.secret,
                actor=actors.user(request.user.pk),
                now=utc_now(),
            )
            return _reveal(request, made)
        except SecretsOverlap as refusal:
            form.add_error("overlap", f"{refusal.detail} Wait until then, or choose no overlap.")
    return _ask(request, "rotate", form, endpoint=row)


@require_POST
@tenant_form(Role.OWNER)
def switch(request: PageRequest, endpoint_id: str) -> HttpResponse:
    """Off or on again; `to` says which."""
    is_on = request.POST.get("to") == "on"
    endpoints.update(
        tenant_id=request.access.tenant.pk,
        endpoint_id=endpoint_id,
        status=EndpointStatus.ENABLED if is_on else EndpointStatus.DISABLED,
        actor=actors.user(request.user.pk),
        now=utc_now(),
    )
    if is_on:
        messages.success(request, "The endpoint is on again. You can replay the events it missed.")
    else:
        messages.success(
            request, "The endpoint is off. We keep events for 30 days so that you can replay them."
        )
    return redirect("dashboard:webhook", endpoint_id=endpoint_id)


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(Role.OWNER)
def remove(request: PageRequest, endpoint_id: str) -> HttpResponse:
    """GET spells out what removing means; POST does it."""
    tenant_id = request.access.tenant.pk
    if request.method != "POST":
        row = selectors.endpoint(tenant_id=tenant_id, endpoint_id=endpoint_id)
        values = {"endpoint": row, "waiting": selectors.waiting(endpoint_id=row.pk)}
        return render(request, "dashboard/developers/webhooks/remove.html", values)
    row = endpoints.remove(
        tenant_id=tenant_id,
        endpoint_id=endpoint_id,
        actor=actors.user(request.user.pk),
        now=utc_now(),
    )
    messages.success(request, f"{row.url} was removed.")
    return redirect("dashboard:webhooks")


def _sent(request: PageRequest) -> object:
    return request.POST if request.method == "POST" else None


@sensitive_variables()
def _reveal(request: PageRequest, made: WithSecret) -> HttpResponse:
    return render(request, "dashboard/developers/webhooks/secret.html", {"made": made})


def _ask(
    request: PageRequest,
    template: str,
    form: forms.Form,
    *,
    endpoint: WebhookEndpoint | None = None,
) -> HttpResponse:
    values = {"form": form, "endpoint": endpoint}
    status = 422 if form.errors else 200
    return render(request, f"dashboard/developers/webhooks/{template}.html", values, status=status)
