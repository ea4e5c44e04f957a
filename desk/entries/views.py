"""One entry: its life, and taking it out of a file that was not sent."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from common.clock import utc_now
from common.errors import StaffRefusal
from desk import verdicts
from desk.access import desk_page, desk_render, doer_of
from desk.entries import page, reversals
from desk.entries.reversals import ReversalForm
from desk.files import acts
from desk.forms import ReasonForm
from desk.verdicts import Verdict

SEE = "ach.view_achentry"
HOLD = "ach.hold_outfile"
PROPOSE = reversals.PROPOSES
APPROVE = reversals.APPROVES
_APPROVAL = Verdict(reversals.approve, "Approved. It goes with the next file.")
_REJECTION = Verdict(reversals.reject, "Rejected.")


@require_safe
@desk_page(SEE)
def find(request: HttpRequest) -> HttpResponse:
    """Look an entry up by what a bank or a tenant calls it."""
    text = request.GET.get("q", "")
    instruction_id = page.found(text)
    if instruction_id:
        return redirect("desk:entry", instruction_id)
    return desk_render(request, "desk/entries/find.html", title="Find an entry", asked=text)


@require_safe
@desk_page(SEE)
def entry(request: HttpRequest, instruction_id: str) -> HttpResponse:
    """The life of one entry."""
    shown = page.entry_page(instruction_id)
    return desk_render(
        request, "desk/entries/page.html", title=f"Entry {instruction_id}", page=shown
    )


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, HOLD, is_fresh=True)
def take_out(request: HttpRequest, instruction_id: str) -> HttpResponse:
    """Withdraw an entry. Its file is taken apart, and the others go with the next one."""
    shown, form = page.entry_page(instruction_id), ReasonForm(request.POST or None)
    if form.is_valid():
        try:
            acts.take_out(
                instruction_id=instruction_id,
                reason=form.cleaned_data["reason"],
                doer=doer_of(request),
                now=utc_now(),
            )
        except StaffRefusal as refusal:
            form.add_error(None, refusal.detail)
        else:
            messages.success(request, "It is out. The other entries go with the next file.")
            return redirect("desk:entry", instruction_id)
    title = f"Take out {instruction_id}"
    return desk_render(request, "desk/entries/take_out.html", title=title, page=shown, form=form)


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, PROPOSE, is_fresh=True)
def reverse_entry(request: HttpRequest, instruction_id: str) -> HttpResponse:
    """Propose to take an entry back. Another person agrees."""
    shown, form = page.entry_page(instruction_id), ReversalForm(request.POST or None)
    if form.is_valid():
        try:
            reversals.propose(
                entry=shown.entry,
                why=form.cleaned_data["why"],
                hours=form.cleaned_data["hours"],
                note=form.cleaned_data["reason"],
                doer=doer_of(request),
                now=utc_now(),
            )
        except StaffRefusal as refusal:
            form.add_error(None, refusal.detail)
        else:
            messages.success(request, "Proposed. Somebody else approves it.")
            return redirect("desk:entry", instruction_id)
    title = f"Take back {instruction_id}"
    return desk_render(request, "desk/entries/reverse.html", title=title, page=shown, form=form)


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, APPROVE, is_fresh=True)
def decide_reversal(request: HttpRequest, reversal_id: str) -> HttpResponse:
    """Approve what somebody else proposed, or reject it."""
    row = reversals.found_reversal(reversal_id)
    doer = doer_of(request)
    if request.method == "POST":
        verdicts.decide(request, yes=_APPROVAL, no=_REJECTION, reversal=row)
        return redirect("desk:entry", row.entry.instruction_id)
    return desk_render(
        request,
        "desk/entries/decide.html",
        title="Take an entry back",
        reversal=row,
        entry=row.entry,
        is_own=row.proposed_by == doer.name,
    )
