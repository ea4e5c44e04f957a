"""What waits for a second person: approved or rejected here."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from common.clock import utc_now
from common.errors import StaffRefusal
from desk import doers
from desk.access import actor_of, desk_page, desk_render
from desk.doers import person
from desk.proposals import deciding, lines

DECIDE = deciding.APPROVES
_REJECTED = "Rejected: everything stays as it was."


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(DECIDE, is_fresh=True)
def decide(request: HttpRequest, proposal_id: str) -> HttpResponse:
    """Approve what somebody else proposed, or reject it."""
    row, doer = deciding.found(proposal_id), person(actor_of(request))
    (line,) = lines.lines_of([row])
    if request.method == "POST":
        is_approved = request.POST.get("decision") == "approve"
        act = deciding.approve if is_approved else deciding.reject
        try:
            act(proposal=row, doer=doer, now=utc_now())
        except StaffRefusal as refusal:
            messages.error(request, f"{refusal.detail} {refusal.advice}")
        else:
            messages.success(request, line.done if is_approved else _REJECTED)
        return redirect(line.address)
    return desk_render(
        request,
        "desk/proposals/decide.html",
        title=row.get_kind_display(),
        line=line,
        back=line.address,
        standing=doers.standing(DECIDE, row, reader=doer) if row.is_open else None,
        is_own=row.proposed_by == doer.name,
    )
