"""Instant rails: what is agreed with their operators, and our keys."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common.clock import utc_now
from common.errors import NotFound, StaffRefusal
from desk import verdicts
from desk.access import desk_page, desk_render, doer_of
from desk.rails.instant import acts, lines
from desk.rails.instant.forms import InstantTermsForm
from desk.rails.instant.terms import complete
from desk.verdicts import Verdict
from networks.instant.models import InstantVersion
from networks.instant.states import VersionStatus
from networks.instant.terms import RailTerms

SEE = "instant.view_instantrail"
PROPOSE = acts.PROPOSES
DECIDE = acts.APPROVES

_APPROVAL = Verdict(acts.approve, "In force from now on.")
_REJECTION = Verdict(acts.reject, "Rejected.")


@require_safe
@desk_page(SEE)
def rail(request: HttpRequest, name: str) -> HttpResponse:
    """One rail: its terms, who agreed to them, its line and our keys."""
    now = utc_now()
    return desk_render(
        request,
        "desk/rails/instant/page.html",
        title=f"Rail {name}",
        rail=lines.rail_page(acts.found_rail(name), now=now),
        now=now,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, PROPOSE, is_fresh=True)
def change(request: HttpRequest, name: str) -> HttpResponse:
    """All terms as a form. Another person agrees to what is typed here."""
    row = acts.found_rail(name)
    current = row.versions.filter(status=VersionStatus.CURRENT).first()
    base = complete(current.terms) if current else RailTerms.defaults()
    form = InstantTermsForm(request.POST or None, base=base)
    if form.is_valid() and form.terms:
        try:
            version = acts.propose(
                rail=row,
                terms=form.terms,
                account=form.cleaned_data["account"],
                reason=form.cleaned_data["reason"],
                doer=doer_of(request),
                now=utc_now(),
            )
        except StaffRefusal as refusal:
            form.add_error(None, refusal.detail)
        else:
            messages.success(request, "Proposed. It takes effect when somebody else approves it.")
            return redirect("desk:instant_version", name, version.number)
    return desk_render(
        request,
        "desk/rails/change.html",
        title=f"Change rail {name}",
        back=reverse("desk:instant_rail", args=[name]),
        keeps="Payments and requests that are on their way are not touched.",
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
        return redirect("desk:instant_rail", name)
    return redirect("desk:instant_version", name, number)


@require_POST
@desk_page(SEE, PROPOSE)
def withdraw(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Take back what one proposed oneself."""
    row = _found_version(name, number)
    try:
        acts.withdraw(version=row, doer=doer_of(request), now=utc_now())
    except StaffRefusal as refusal:
        messages.error(request, refusal.detail)
    else:
        messages.success(request, "Withdrawn.")
    return redirect("desk:instant_version", name, number)


@require_POST
@desk_page(SEE, PROPOSE)
def look_again(request: HttpRequest, name: str) -> HttpResponse:
    """Ask the network at once, after what was in the way was mended."""
    row = acts.found_rail(name)
    if acts.look_again(rail=row.pk, doer=doer_of(request), now=utc_now()):
        messages.success(request, "A worker asks within a second.")
    return redirect("desk:instant_rail", name)


def _version_page(request: HttpRequest, row: InstantVersion, *, decides: bool) -> HttpResponse:
    where = (row.rail_id, row.number)
    is_own = row.proposed_by == doer_of(request).name
    return desk_render(
        request,
        "desk/rails/version.html",
        title=f"Rail {row.rail_id}, version {row.number}",
        name=row.rail_id,
        back=reverse("desk:instant_rail", args=[row.rail_id]),
        decide=reverse("desk:instant_decide", args=where),
        withdraw=reverse("desk:instant_withdraw", args=where) if is_own else "",
        may_decide=request.user.has_perm(DECIDE),
        line=lines.version_line(row),
        is_own=is_own,
        decides=decides,
    )


def _found_version(name: str, number: int) -> InstantVersion:
    found = acts.found_rail(name).versions.filter(number=number).first()
    if found is None:
        raise NotFound("There is no such version.")
    return found
