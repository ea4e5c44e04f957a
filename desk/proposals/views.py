"""What waits for a second person: approved or rejected here."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from desk import doers, verdicts
from desk.access import actor_of, desk_page, desk_render
from desk.doers import person
from desk.proposals import deciding, lines
from desk.verdicts import Verdict

DECIDE = deciding.APPROVES
_REJECTION = Verdict(deciding.reject, "Rejected: everything stays as it was.")


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(DECIDE, is_fresh=True)
def decide(request: HttpRequest, proposal_id: str) -> HttpResponse:
    """Approve what somebody else proposed, or reject it."""
    row, doer = deciding.found(proposal_id), person(actor_of(request))
    (line,) = lines.lines_of([row])
    if request.method == "POST":
        approval = Verdict(deciding.approve, line.done)
        verdicts.decide(request, yes=approval, no=_REJECTION, proposal=row)
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
