"""Rails: how banks are connected, what is agreed with them, and what is stopped."""

from __future__ import annotations

from typing import TypeVar

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common.clock import utc_now
from common.errors import NotFound, StaffRefusal
from desk import verdicts
from desk.access import desk_page, desk_render, doer_of
from desk.forms import ReasonForm
from desk.rails import acts, lines, routes
from desk.rails.forms import OriginatorForm, StopForm, TermsForm
from desk.rails.instant import acts as instant_acts
from desk.rails.instant import lines as instant
from desk.verdicts import Verdict
from networks.ach.models import AchRail, Originator, RailSwitch, RailVersion
from networks.ach.models.rails import RailPart
from networks.ach.rails import NoTerms
from networks.ach.states import VersionStatus

SEE = "ach.view_achrail"
SEE_INSTANT = "instant.view_instantrail"
PROPOSE = acts.PROPOSES
DECIDE = acts.APPROVES
STOP = "ach.add_railswitch"
GO_ON = "ach.change_railswitch"
ORIGINATORS = "ach.change_originator"
TEST = "ach.hold_outfile"

_APPROVAL = Verdict(acts.approve, "In force from now on.")
_REJECTION = Verdict(acts.reject, "Rejected.")
_PROPOSED = "Proposed. It takes effect when somebody else approves it."
Row = TypeVar("Row", RailSwitch, Originator)


@require_safe
@desk_page(SEE)
def rails(request: HttpRequest) -> HttpResponse:
    """All rails, and which of them carries what for whom."""
    return desk_render(
        request,
        "desk/rails/list.html",
        title="Rails",
        rails=lines.rail_lines(),
        instant=instant.rail_lines() if request.user.has_perm(SEE_INSTANT) else [],
        routes=routes.route_lines(),
    )


@require_safe
@desk_page(SEE)
def rail(request: HttpRequest, name: str) -> HttpResponse:
    """One rail: its terms, who agreed to them, keys, stops, originators."""
    if instant_acts.is_one(name):
        return redirect("desk:instant_rail", name)
    row = acts.found_rail(name)
    return desk_render(
        request,
        "desk/rails/page.html",
        title=f"Rail {name}",
        row=row,
        rail=lines.rail_page(row),
        now=utc_now(),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, PROPOSE, is_fresh=True)
def change(request: HttpRequest, name: str) -> HttpResponse:
    """All terms as a form. Another person agrees to what is typed here."""
    row = acts.found_rail(name)
    current = row.versions.filter(status=VersionStatus.CURRENT).first()
    form = TermsForm(request.POST or None, base=current.terms if current else {})
    if form.is_valid() and form.terms:
        try:
            version = acts.propose(
                rail=name,
                terms=form.terms,
                offset_account=form.cleaned_data["offset_account"] or None,
                reason=form.cleaned_data["reason"],
                doer=doer_of(request),
                now=utc_now(),
            )
        except StaffRefusal as refusal:
            form.add_error(None, refusal.detail)
        else:
            messages.success(request, "Proposed. It takes effect when somebody else approves it.")
            return redirect("desk:rail_version", name, version.number)
    return desk_render(
        request,
        "desk/rails/change.html",
        title=f"Change rail {name}",
        back=reverse("desk:rail", args=[name]),
        keeps="Files that are built keep the terms that they were built with.",
        form=form,
    )


@require_safe
@desk_page(SEE)
def version(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """One version: what it changed, and who agreed to it."""
    return _version_page(request, _found_version(name, number), decides=False)


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, DECIDE, is_fresh=True)
def decide(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Put what somebody else proposed in force, or reject it."""
    row = _found_version(name, number)
    if request.method != "POST":
        return _version_page(request, row, decides=True)
    if verdicts.decide(request, yes=_APPROVAL, no=_REJECTION, version=row):
        return redirect("desk:rail", name)
    return redirect("desk:rail_version", name, number)


def _version_page(request: HttpRequest, row: RailVersion, *, decides: bool) -> HttpResponse:
    return desk_render(
        request,
        "desk/rails/version.html",
        title=f"Rail {row.rail_id}, version {row.number}",
        name=row.rail_id,
        back=reverse("desk:rail", args=[row.rail_id]),
        decide=reverse("desk:rail_decide", args=(row.rail_id, row.number)),
        may_decide=request.user.has_perm(DECIDE),
        line=lines.version_line(row),
        is_own=row.proposed_by == doer_of(request).name,
        decides=decides,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, STOP)
def stop(request: HttpRequest, name: str) -> HttpResponse:
    """Stop a part of the rail: one person is enough."""
    row = acts.found_rail(name)
    form = StopForm(request.POST or None, initial={"part": request.GET.get("part", "")})
    if form.is_valid():
        part, reason = RailPart(form.cleaned_data["part"]), form.cleaned_data["reason"]
        try:
            acts.engage(rail=row.pk, part=part, reason=reason, doer=doer_of(request), now=utc_now())
        except StaffRefusal as refusal:
            form.add_error(None, refusal.detail)
        else:
            messages.success(request, f"Stopped. {part.label} until somebody releases it.")
            return redirect("desk:rail", name)
    title = f"Stop a part of rail {name}"
    return desk_render(request, "desk/rails/stop.html", title=title, name=name, form=form)


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, GO_ON, is_fresh=True)
def go_on(request: HttpRequest, name: str, switch_id: str) -> HttpResponse:
    """Let a stopped part go on."""
    switch = _found(RailSwitch, name, switch_id)
    form = ReasonForm(request.POST or None)
    if form.is_valid():
        reason = form.cleaned_data["reason"]
        try:
            acts.release(switch=switch, reason=reason, doer=doer_of(request), now=utc_now())
        except StaffRefusal as refusal:
            form.add_error(None, refusal.detail)
        else:
            messages.success(request, "It goes on.")
            return redirect("desk:rail", name)
    title = f"Let rail {name} go on"
    return desk_render(
        request, "desk/rails/go_on.html", title=title, name=name, switch=switch, form=form
    )


@require_POST
@desk_page(SEE, TEST)
def test(request: HttpRequest, name: str) -> HttpResponse:
    """Sign in at the bank now, and say what came of it."""
    row = acts.found_rail(name)
    try:
        found = acts.test(rail=row.pk, doer=doer_of(request), now=utc_now())
    except NoTerms:
        messages.error(request, "The rail has no terms yet.")
        return redirect("desk:rail", name)
    title = f"Connection of rail {name}"
    return desk_render(request, "desk/rails/test.html", title=title, name=name, found=found)


@require_POST
@desk_page(SEE, TEST)
def look_again(request: HttpRequest, name: str) -> HttpResponse:
    """Look into the bank's folders at once, after what was in the way was mended."""
    row = acts.found_rail(name)
    if acts.look_again(rail=row.pk, doer=doer_of(request), now=utc_now()):
        messages.success(request, "A worker looks within a minute.")
    return redirect("desk:rail", name)


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, ORIGINATORS, is_fresh=True)
def originator(request: HttpRequest, name: str, originator_id: str = "") -> HttpResponse:
    """A company in whose name the rail sends, new or known, and its limits."""
    rail = acts.found_rail(name)
    row = _found(Originator, name, originator_id) if originator_id else None
    form = OriginatorForm(request.POST or None, initial=_company_of(row))
    if row:
        del form.fields["tenant"]
    if form.is_valid():
        tenant_id = row.tenant_id if row else form.cleaned_data["tenant"]
        if _assigned(request, form, rail, tenant_id):
            return redirect("desk:rail", name)
    return desk_render(
        request,
        "desk/rails/originator.html",
        title=f"Originator of rail {name}",
        name=name,
        originator=row,
        meters=lines.rates_of(row, now=utc_now()) if row else (),
        form=form,
    )


@require_POST
@desk_page(SEE, ORIGINATORS, is_fresh=True)
def end_originator(request: HttpRequest, name: str, originator_id: str) -> HttpResponse:
    """Take nothing more in this name."""
    row = _found(Originator, name, originator_id)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Give a reason of a few words.")
        return redirect("desk:originator", name, originator_id)
    try:
        reason = form.cleaned_data["reason"]
        is_done = acts.end(originator=row, reason=reason, doer=doer_of(request), now=utc_now())
    except StaffRefusal as refusal:
        messages.error(request, refusal.detail)
    else:
        ended = f"{row.company_name} has ended. What was taken still goes out."
        messages.success(request, ended if is_done else _PROPOSED)
    return redirect("desk:rail", name)


def _assigned(request: HttpRequest, form: OriginatorForm, rail: AchRail, tenant_id: str) -> bool:
    try:
        row = acts.assign(
            rail=rail.pk,
            tenant_id=tenant_id,
            company=form.company,
            reason=form.cleaned_data["reason"],
            doer=doer_of(request),
            now=utc_now(),
        )
    except StaffRefusal as refusal:
        form.add_error(None, refusal.detail)
        return False
    named = f"Entries go out in the name of {form.company.company_name}."
    messages.success(request, named if row else _PROPOSED)
    return True


def _company_of(row: Originator | None) -> dict[str, object]:
    names = ("company_name", "company_id", "daily_debit_max", "daily_credit_max", "exposure_max")
    return {name: getattr(row, name) for name in names} if row else {}


def _found_version(name: str, number: int) -> RailVersion:
    found = acts.found_rail(name).versions.filter(number=number).first()
    if found is None:
        raise NotFound("There is no such version.")
    return found


def _found(model: type[Row], rail: str, pk: str) -> Row:
    found = model.objects.filter(pk=pk, rail_id=rail).first() if "\0" not in pk + rail else None
    if found is None:
        raise NotFound("There is no such row.")
    return found
