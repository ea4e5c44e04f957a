"""One funding, one payment: read here; what staff do to it is asked by the admin's own pages."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from common.clock import utc_now
from common.money import format_cents
from desk.access import desk_page, desk_render
from desk.columns import columns_of
from desk.transfers import page
from desk.transfers.page import TransferPage

SEE_FUNDING = "funding.view_fundingtransaction"
SEE_PAYMENT = "payments.view_payment"
STEP_FUNDING = "funding.change_fundingtransaction"
STEP_PAYMENT = "payments.change_payment"
SEE_AUDIT_LOG = "tenants.view_auditevent"


@require_safe
@desk_page(SEE_FUNDING)
def funding(request: HttpRequest, funding_id: str) -> HttpResponse:
    """Money in, with everything that hangs on it."""
    with_audit = request.user.has_perm(SEE_AUDIT_LOG)
    shown = page.funding_page(funding_id, with_audit=with_audit, now=utc_now())
    return _shown(request, shown, may_act=request.user.has_perm(STEP_FUNDING))


@require_safe
@desk_page(SEE_PAYMENT)
def payment(request: HttpRequest, payment_id: str) -> HttpResponse:
    """Money out, with everything that hangs on it."""
    with_audit = request.user.has_perm(SEE_AUDIT_LOG)
    shown = page.payment_page(payment_id, with_audit=with_audit, now=utc_now())
    return _shown(request, shown, may_act=request.user.has_perm(STEP_PAYMENT))


def _shown(request: HttpRequest, shown: TransferPage, *, may_act: bool) -> HttpResponse:
    title = f"{format_cents(shown.row.amount)} {shown.title}"
    return desk_render(
        request,
        "desk/transfers/page.html",
        title=title,
        page=shown,
        may_act=may_act,
        columns=columns_of(request, shown.row),
    )
