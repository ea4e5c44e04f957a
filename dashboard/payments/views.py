"""Money going out: every payment, where it stands, and what became of it."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from common.clock import utc_now
from dashboard.chain.collected import collect
from dashboard.payments import detail as payment_detail
from dashboard.payments.forms import PaymentFilter
from dashboard.payments.lines import payment_line
from dashboard.recipients.choices import recipient_choices
from dashboard.shell import downloads, stops
from dashboard.shell.access import MONEY, PageRequest, tenant_download, tenant_form, tenant_page
from dashboard.shell.paging import newest_of, page
from payments import selectors
from payments.api import presenters
from payments.models import SOURCE_TYPE, Payment
from payments.services import approvals, exemption, orders
from tenants import actors
from tenants import selectors as tenants
from transfers.errors import NotCancelable
from transfers.listing import newest_first

FILE = "payments.csv"
_NEWEST = newest_of(selectors.payments)


@require_safe
@tenant_page()
def payments(request: PageRequest) -> HttpResponse:
    tenant_id, now = request.access.tenant.pk, utc_now()
    form = _filter(request)
    rows = selectors.payments(tenant_id=tenant_id)
    found = page(
        form.narrow(rows),
        before=request.GET.get("before", ""),
        unfiltered=rows,
        newest=None if form.query else partial(_NEWEST.read, tenant_id=tenant_id),
    )
    stop = stops.of(request.access.tenant).payments
    threshold = approvals.approval_threshold(
        tenant_id=tenant_id, mode=request.access.tenant.mode, now=now
    )
    values = {
        "lines": [payment_line(row, is_stopped=bool(stop)) for row in found.rows],
        "stop": stop,
        "page": found,
        "form": form,
        "threshold": threshold,
        "is_exempt": threshold is not None
        and exemption.is_alone(tenant_id=tenant_id, actor=actors.user(request.user.pk), now=now),
        "change": approvals.waiting_change(tenant_id=tenant_id, now=now),
    }
    return render(request, "dashboard/payments/list.html", values, status=form.http_status)


@require_safe
@tenant_download(FILE, narrowed_by=PaymentFilter)
def download(request: PageRequest) -> HttpResponseBase:
    """What the list shows, all of it, as CSV."""
    chosen = _filter(request).narrow(selectors.payments(tenant_id=request.access.tenant.pk))
    return downloads.download(
        FILE,
        presenters.CSV_HEADER,
        map(presenters.csv_row, newest_first(chosen)),
    )


@require_safe
@tenant_page()
def detail(request: PageRequest, payment_id: str) -> HttpResponse:
    """One payment with its timeline; for htmx only the part that changes."""
    access = request.access
    row = selectors.payment(tenant_id=access.tenant.pk, payment_id=payment_id)
    history, asked = list(selectors.history(row)), list(selectors.approvals(row))
    approval = asked[-1] if asked else None
    collected = collect(
        tenant_id=access.tenant.pk,
        subject_id=row.pk,
        source_type=SOURCE_TYPE,
        with_audit=access.may_read_audit_log,
    )
    names = tenants.people_and_keys({event.actor_id for event in history} | collected.actors)
    values = {
        "payment": payment_detail.detail(
            row,
            history=history,
            approvals=asked,
            deciding=approvals.deciding(approval) if approval and row.awaits_confirmation else (),
            names=names,
            stop=stops.of(access.tenant).payments,
            new=_new_approvers(row),
            now=utc_now(),
        ),
        "chain": collected.chain(names),
    }
    template = "_detail_live.html" if request.htmx else "detail.html"
    return render(request, f"dashboard/payments/{template}", values)


def _new_approvers(row: Payment) -> dict[str, datetime]:
    """Who cannot approve it yet, and from when they can; nobody unless it waits for approval."""
    if not row.awaits_confirmation:
        return {}
    return tenants.new_approvers(tenant_id=row.tenant_id, now=utc_now())


@require_POST
@tenant_form(*MONEY)
def cancel(request: PageRequest, payment_id: str) -> HttpResponse:
    try:
        orders.cancel(
            tenant_id=request.access.tenant.pk,
            payment_id=payment_id,
            actor=actors.user(request.user.pk),
            now=utc_now(),
        )
    except NotCancelable as refusal:
        messages.error(request, refusal.detail)
    else:
        messages.success(request, "Canceled. Nothing was sent.")
    return redirect("dashboard:payment_detail", payment_id=payment_id)


def _filter(request: PageRequest) -> PaymentFilter:
    recipients = recipient_choices(
        tenant_id=request.access.tenant.pk,
        chosen=request.GET.get("recipient", ""),
        with_removed=True,
    )
    return PaymentFilter(request.GET, recipients=recipients)
