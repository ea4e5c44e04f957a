"""The money at instant networks, and moving it by two people."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from common.clock import utc_now
from desk import attempts, doers
from desk.access import desk_page, desk_render, doer_of
from desk.forms import ReasonForm
from desk.positions import acts
from desk.positions.forms import MoveForm
from networks.instant import participants, position
from networks.instant.models import ParticipantList, PositionMove
from networks.instant.models.rails import ProfileName

SEE = "instant.view_position"
_SHOWN = 50


@require_safe
@desk_page(SEE)
def positions(request: HttpRequest) -> HttpResponse:
    """What lies at each network, what waits for more, and the newest moves."""
    lists = {row.profile: row for row in ParticipantList.objects.filter(replaced_at=None)}
    return desk_render(
        request,
        "desk/positions/list.html",
        title="Money at instant networks",
        standings=position.standings(),
        moves=PositionMove.objects.order_by("-proposed_at", "pk")[:_SHOWN],
        directories=[(ProfileName(name).label, lists.get(name)) for name in participants.counts()],
    )


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, acts.PROPOSES, is_fresh=True)
def propose(request: HttpRequest) -> HttpResponse:
    """Ask another person to move money."""
    form = MoveForm(request.POST or None)

    def proposed() -> None:
        acts.propose(
            move=form.move,
            reason=form.cleaned_data["reason"],
            doer=doer_of(request),
            now=utc_now(),
        )

    if attempts.submits(request, form, proposed, done="Proposed. Another person approves it."):
        return redirect("desk:positions")
    return desk_render(
        request,
        "desk/positions/form.html",
        title="Move money",
        form=form,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, acts.APPROVES, is_fresh=True)
def decide(request: HttpRequest, move_id: str) -> HttpResponse:
    """Approve what somebody else proposed to move, or reject it."""
    row, doer = acts.found(move_id), doer_of(request)
    form = ReasonForm(request.POST or None)

    def approved() -> None:
        acts.approve(move=row, doer=doer, now=utc_now())

    def rejected() -> None:
        acts.reject(move=row, refusal=form.cleaned_data["reason"], doer=doer, now=utc_now())

    if request.method == "POST" and request.POST.get("decision") == "approve":
        attempts.succeeds(request, approved, done="Approved: it counts.")
        return redirect("desk:positions")
    if attempts.submits(request, form, rejected, done="Rejected: nothing was moved."):
        return redirect("desk:positions")
    names = doers.names_of([row.proposed_by, row.decided_by])
    return desk_render(
        request,
        "desk/positions/decide.html",
        title=f"Move {row}",
        move=row,
        proposed_by=names.get(row.proposed_by, ""),
        decided_by=names.get(row.decided_by, ""),
        standing=doers.standing(acts.APPROVES, row, reader=doer) if row.is_open else None,
        is_own=row.proposed_by == doer.name,
        form=form,
    )
