"""Events and deliveries of webhooks at the desk: read here, and sent again."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from common.clock import utc_now
from common.errors import DomainError
from desk.access import actor_of, desk_page, desk_render
from desk.columns import columns_of
from desk.webhooks import page
from tenants import switches
from webhooks.services import deliveries

SEE_EVENT = "webhooks.view_webhookevent"
SEE_DELIVERY = "webhooks.view_webhookdelivery"
SEE_ATTEMPT = "webhooks.view_webhookattempt"
RESEND = "webhooks.change_webhookdelivery"
_SENT_AGAIN = "It is sent again with the same bytes."
_ONCE_RESUMED = (
    "Sending webhooks is stopped. It is sent again with the same bytes once sending resumes."
)
# The desk's page of the money that an event is about, and the power that opens it.
_MONEY = {
    "ftx": ("desk:funding", "funding.view_fundingtransaction"),
    "pay": ("desk:payment", "payments.view_payment"),
}


@require_safe
@desk_page(SEE_EVENT)
def event(request: HttpRequest, event_id: str) -> HttpResponse:
    """Something that happened, as its receivers got it, and who they were."""
    shown = page.event_page(event_id, now=utc_now())
    return desk_render(
        request,
        "desk/webhooks/event.html",
        title=shown.title,
        page=shown,
        money=_money(request, shown.row.payment_id),
        columns=columns_of(request, shown.row),
    )


@require_safe
@desk_page(SEE_DELIVERY)
def delivery(request: HttpRequest, delivery_id: str) -> HttpResponse:
    """One event for one endpoint: every answer, what comes next, and the money it is about."""
    shown = page.delivery_page(
        delivery_id,
        with_event=request.user.has_perm(SEE_EVENT),
        with_attempts=request.user.has_perm(SEE_ATTEMPT),
        now=utc_now(),
    )
    return desk_render(
        request,
        "desk/webhooks/delivery.html",
        title=shown.title,
        page=shown,
        money=_money(request, shown.row.payment_id),
        columns=columns_of(request, shown.row),
        may_resend=shown.line.may_resend and request.user.has_perm(RESEND),
    )


@require_POST
@desk_page(SEE_DELIVERY, RESEND)
def resend(request: HttpRequest, delivery_id: str) -> HttpResponse:
    """Send a delivery again, whatever became of it."""
    row = page.found_delivery(delivery_id)
    try:
        deliveries.resend(
            tenant_id=row.tenant_id, delivery_id=row.pk, actor=actor_of(request), now=utc_now()
        )
    except DomainError as refusal:
        messages.error(request, f"{refusal.title}. {refusal.detail}")
    else:
        is_stopped = switches.stop_of_webhooks(tenant_id=row.tenant_id) is not None
        messages.success(request, _ONCE_RESUMED if is_stopped else _SENT_AGAIN)
    return redirect("desk:delivery", delivery_id=row.pk)


def _money(request: HttpRequest, payment_id: str) -> str:
    """The address of the page of this funding or payment; empty without one that they may open."""
    name, power = _MONEY.get(payment_id.partition("_")[0], ("", ""))
    return reverse(name, args=[payment_id]) if name and request.user.has_perm(power) else ""
