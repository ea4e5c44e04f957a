"""Whom the tenant pays again and again: list, one of them, add, rename, remove."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_safe

from common.clock import utc_now
from common.errors import DomainError
from dashboard.bank_accounts.forms import FIELDS
from dashboard.payments.lines import payment_line
from dashboard.recipients import detail as recipient_detail
from dashboard.recipients.choices import found_recipients
from dashboard.recipients.forms import NicknameForm, RecipientForm, RecipientSearch
from dashboard.recipients.lines import recipient_line
from dashboard.shell import refusals
from dashboard.shell.access import MONEY, PageRequest, tenant_form, tenant_page
from dashboard.shell.paging import page
from payments import recipient_history as history
from payments import selectors
from payments.models import Payment, Recipient
from payments.services import cool_down
from payments.services import recipients as service
from tenants import actors
from tenants import selectors as tenants
from tenants.models import AuditEvent

# What the page of one recipient shows; lists have the rest.
_PAYMENTS_MAX = 10
_APPROVALS_MAX = 5
_EVENTS_MAX = 50


@require_safe
@tenant_page()
def recipients(request: PageRequest) -> HttpResponse:
    """The saved ones, newest first; removed ones are left out."""
    rows = selectors.recipients(tenant_id=request.access.tenant.pk).filter(removed_at=None)
    found = page(rows, before=request.GET.get("before", ""))
    actor = actors.user(request.user.pk)
    new = cool_down.among_of_tenant(request.access.tenant, found.rows, actor=actor, now=utc_now())
    lines = [recipient_line(row, new=new.get(row.pk)) for row in found.rows]
    values = {"lines": lines, "page": found}
    return render(request, "dashboard/recipients/list.html", values)


@require_safe
@tenant_page()
def detail(request: PageRequest, recipient_id: str) -> HttpResponse:
    """One saved recipient, a removed one included: whom it pays, how much, who approved."""
    row, now = _recipient(request, recipient_id), utc_now()
    actor = actors.user(request.user.pk)
    new = cool_down.among_of_tenant(request.access.tenant, [row], actor=actor, now=now)
    events = _events(row)
    names = tenants.people_and_keys({event.actor_id for event in events})
    latest = list(_latest_payments(row))
    values = {
        "recipient": recipient_detail.RecipientDetail(
            line=recipient_line(row, new=new.get(row.pk)),
            routing_number=row.routing_number,
            removed_at=row.removed_at,
            added_by=recipient_detail.added_by(events, names),
            totals=recipient_detail.total_lines(history.totals(row, now=now)),
            payments=[payment_line(payment) for payment in latest],
            approvals=recipient_detail.approval_lines(history.approvals(row)[:_APPROVALS_MAX]),
            steps=recipient_detail.steps(events, list(history.versions(row)), names),
        )
    }
    return render(request, "dashboard/recipients/detail.html", values)


@require_safe
@tenant_page(*MONEY)
def search(request: PageRequest) -> HttpResponse:
    """The recipients that fit what is typed into the search box of a form."""
    form = RecipientSearch(request.GET)
    return JsonResponse(found_recipients(form, tenant_id=request.access.tenant.pk))


@sensitive_post_parameters("account_number", "account_number_again")
@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(*MONEY, needs_proof=True)
@sensitive_variables()
def add(request: PageRequest) -> HttpResponse:
    """Save an account to pay; with `then=pay` the payment form follows."""
    form = RecipientForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        details = {**form.cleaned_data}
        nickname = details.pop("nickname")
        try:
            saved = service.save(
                tenant_id=request.access.tenant.pk,
                details=details,  # type: ignore[arg-type]  # the fields of the form are its keys
                nickname=nickname,
                actor=actors.user(request.user.pk),
                now=utc_now(),
            )
            return _added(request, saved)
        except DomainError as refusal:
            refusals.add_to(form, refusal, fields=FIELDS)
    return _form_page(request, "add", form, then=request.GET.get("then", ""))


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(*MONEY, needs_proof=True)
def rename(request: PageRequest, recipient_id: str) -> HttpResponse:
    row = _recipient(request, recipient_id)
    form = NicknameForm(
        request.POST if request.method == "POST" else None, initial={"nickname": row.nickname}
    )
    if form.is_valid():
        try:
            renamed = service.rename(
                tenant_id=row.tenant_id,
                recipient_id=row.pk,
                nickname=form.cleaned_data["nickname"],
                actor=actors.user(request.user.pk),
                now=utc_now(),
            )
            messages.success(request, f"The recipient is now called {renamed.display_name}.")
            return redirect("dashboard:recipient", recipient_id=renamed.pk)
        except DomainError as refusal:
            refusals.add_to(form, refusal, fields={})
    return _form_page(request, "rename", form, line=recipient_line(row))


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(*MONEY, needs_proof=True)
def remove(request: PageRequest, recipient_id: str) -> HttpResponse:
    """GET spells out what removing means; POST does it."""
    row = _recipient(request, recipient_id)
    if request.method != "POST":
        line = recipient_line(row)
        return render(request, "dashboard/recipients/remove.html", {"line": line})
    service.remove(
        tenant_id=row.tenant_id,
        recipient_id=row.pk,
        actor=actors.user(request.user.pk),
        now=utc_now(),
    )
    messages.success(request, f"{row.display_name} was removed.")
    return redirect("dashboard:recipients")


def _added(request: PageRequest, saved: Recipient) -> HttpResponse:
    messages.success(request, f"{saved.display_name} was added.")
    if warning := recipient_line(saved).warning:
        messages.warning(request, warning)
    if request.GET.get("then") != "pay":
        return redirect("dashboard:recipients")
    return redirect(f"{reverse('dashboard:pay')}?{urlencode({'recipient': saved.pk})}")


def _recipient(request: PageRequest, recipient_id: str) -> Recipient:
    return selectors.recipient(tenant_id=request.access.tenant.pk, recipient_id=recipient_id)


def _latest_payments(row: Recipient) -> QuerySet[Payment]:
    newest = history.payments_to(row).select_related("recipient").order_by("-created_at", "-pk")
    return newest[:_PAYMENTS_MAX]


def _events(row: Recipient) -> list[AuditEvent]:
    """What people did with it, of many renamings the last ones."""
    rows = tenants.audit_events(tenant_id=row.tenant_id)
    of_this = rows.filter(subject_id=row.pk, action__in=recipient_detail.ACTIONS)
    return list(of_this[:_EVENTS_MAX])


def _form_page(
    request: PageRequest, template: str, form: RecipientForm | NicknameForm, **values: object
) -> HttpResponse:
    values["form"] = form
    status = 422 if form.errors else 200
    return render(request, f"dashboard/recipients/{template}.html", values, status=status)
