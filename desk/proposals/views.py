"""What waits for a second person: approved or rejected here."""

from __future__ import annotations

from functools import partial

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from common import crypto
from desk import doers, verdicts
from desk.access import desk_page, desk_render, doer_of
from desk.proposals import deciding, lines
from desk.proposals.forms import RejectionForm
from desk.proposals.lines import ProposalLine
from desk.statements import uploads
from desk.statements.uploads import Upload
from desk.verdicts import Verdict

DECIDE = deciding.APPROVES
_REJECTED = "Rejected: everything stays as it was."
_TURNED_DOWN = "Rejected: this upload is never taken."


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(DECIDE, is_fresh=True)
def decide(request: HttpRequest, proposal_id: str) -> HttpResponse:
    """Approve what somebody else proposed, or reject it."""
    row, doer = deciding.found(proposal_id), doer_of(request)
    (line,) = lines.lines_of([row])
    form = RejectionForm(request.POST if _rejects(request) else None) if line.is_upload else None
    if request.method == "POST" and (not form or not form.is_bound or form.is_valid()):
        approval = Verdict(deciding.approve, line.done)
        verdicts.decide(request, yes=approval, no=_rejection(form), proposal=row)
        return redirect(line.address)
    return desk_render(
        request,
        "desk/proposals/decide.html",
        title=row.get_kind_display(),
        line=line,
        form=form,
        upload=_upload(line),
        back=line.address,
        standing=doers.standing(DECIDE, row, reader=doer) if row.is_open else None,
        is_own=row.proposed_by == doer.name,
    )


def _rejects(request: HttpRequest) -> bool:
    return request.POST.get("decision") == "reject"


def _rejection(form: RejectionForm | None) -> Verdict:
    if form is None or not form.is_bound:
        return Verdict(deciding.reject, _REJECTED)
    return Verdict(partial(deciding.reject, reason=form.cleaned_data["reason"]), _TURNED_DOWN)


def _upload(line: ProposalLine) -> Upload | None:
    """What an uploaded statement says that waits; None also if its bytes do not open."""
    if not line.is_upload or not line.row.is_open:
        return None
    try:
        return uploads.said_by(line.row.subject)
    except crypto.Undecryptable:
        return None
