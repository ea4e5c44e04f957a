"""Suspense: one person says what a line was, another one approves it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from common.clock import utc_now
from desk import attempts, doers
from desk.access import desk_page, desk_render, doer_of
from desk.forms import ReasonForm
from desk.reconciliation import acts, candidates, lookups, waiting
from desk.reconciliation.asked import Asked
from desk.reconciliation.days import SEE
from desk.reconciliation.forms import ClearForm
from desk.reconciliation.shown import SHOWN
from reconciliation import clearing
from reconciliation import suspense as in_suspense
from reconciliation.models import BookedAs


@require_safe
@desk_page(SEE)
def suspense(request: HttpRequest) -> HttpResponse:
    """What lies in suspense, all or of an amount, and adjustments that no line of a bank explains,
    the oldest first."""
    asked = Asked.of(request)
    rows = in_suspense.lines().select_related("line__statement__account")
    if asked.cents is not None:
        rows = rows.filter(amount=asked.cents)
    lines = list(rows[: SHOWN + 1])
    unexplained = in_suspense.unexplained_adjustments().select_related("tenant")
    return desk_render(
        request,
        "desk/reconciliation/suspense.html",
        title="Suspense",
        waiting=waiting.in_suspense(),
        asked=asked,
        lines=waiting.with_proposals(lines[:SHOWN]),
        has_more=len(lines) > SHOWN,
        adjustments=unexplained[:SHOWN],
    )


@require_safe
@desk_page(SEE)
def suspense_line(request: HttpRequest, booked_id: str) -> HttpResponse:
    """One line that was booked by what the bank says, and what was proposed about it."""
    row = lookups.booked(booked_id)
    rows = list(row.clearings.select_related("other").order_by("-proposed_at"))
    is_fee = row.booked_as == BookedAs.FEE
    return desk_render(
        request,
        "desk/reconciliation/suspense_line.html",
        title="Fee of the bank" if is_fee else "Line in suspense",
        booked=row,
        match=row.line.matched.match,
        clearings=rows,
        names=doers.names_of(name for each in rows for name in (each.proposed_by, each.decided_by)),
        is_open=clearing.in_suspense(row),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, acts.PROPOSES, is_fresh=True)
def clear(request: HttpRequest, booked_id: str) -> HttpResponse:
    """Propose what a line in suspense was."""
    row = lookups.booked(booked_id)
    groups = candidates.groups(row)
    form = ClearForm(groups, request.POST or None)

    def proposed() -> None:
        acts.propose_clearing(
            booked=row,
            kind=form.proposed.kind,
            other=form.proposed.other,
            adjustment_id=form.proposed.adjustment_id,
            expected_line=form.proposed.expected_line,
            reason=form.cleaned_data["reason"],
            doer=doer_of(request),
            now=utc_now(),
        )

    if attempts.submits(request, form, proposed, done="Proposed. Another person approves it."):
        return redirect("desk:suspense_line", row.pk)
    return desk_render(
        request,
        "desk/reconciliation/clear.html",
        title="What was it?",
        booked=row,
        groups=groups,
        form=form,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, acts.APPROVES, is_fresh=True)
def decide(request: HttpRequest, clearing_id: str) -> HttpResponse:
    """Approve what somebody else proposed of a line in suspense, or reject it."""
    row, doer = lookups.clearing(clearing_id), doer_of(request)
    form = ReasonForm(request.POST or None)

    def approved() -> None:
        acts.approve_clearing(proposal=row, doer=doer, now=utc_now())

    def rejected() -> None:
        acts.reject_clearing(
            proposal=row, refusal=form.cleaned_data["reason"], doer=doer, now=utc_now()
        )

    if request.method == "POST" and request.POST.get("decision") == "approve":
        attempts.succeeds(request, approved, done="Approved: it is cleared.")
        return redirect("desk:suspense_line", row.booked_id)
    if attempts.submits(request, form, rejected, done="Rejected: it stays in suspense."):
        return redirect("desk:suspense_line", row.booked_id)
    return desk_render(
        request,
        "desk/reconciliation/decide.html",
        title="Clear a line from suspense",
        clearing=row,
        proposed_by=doers.names_of([row.proposed_by]).get(row.proposed_by, ""),
        standing=doers.standing(acts.APPROVES, row, reader=doer) if row.is_open else None,
        is_own=row.proposed_by == doer.name,
        form=form,
    )
