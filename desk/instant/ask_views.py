"""Pages of a request for a return of funds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from balance import selectors as balances
from common.clock import utc_now
from desk import attempts, doers, verdicts
from desk.access import desk_page, desk_render, doer_of
from desk.doers import Doer, Standing
from desk.instant import asks, page, words
from desk.instant.asks import AnswerForm
from desk.verdicts import Verdict
from networks.instant.models import Conversation, ReturnAsk
from networks.instant.states import AskStatus
from tenants import selectors as tenants

SEE = "instant.view_returnask"
_APPROVAL = Verdict(asks.approve, "Approved. The answer is sent.")
_REJECTION = Verdict(asks.reject, "Rejected. Somebody proposes another answer.")


@dataclass(frozen=True)
class Owner:
    """Whose balance the money was added to, and the cents that are available there now."""

    name: str
    available: int


@require_safe
@desk_page(SEE)
def ask(request: HttpRequest, ask_id: str) -> HttpResponse:
    """What another bank asks back, and what people decided about it."""
    row = asks.found(ask_id)
    names = doers.names_of([row.proposed_by, row.decided_by])
    return _shown(
        request,
        row,
        "desk/instant/ask.html",
        proposed_by=names.get(row.proposed_by, ""),
        decided_by=names.get(row.decided_by, ""),
        is_own=row.proposed_by == doer_of(request).name,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, asks.PROPOSES, is_fresh=True)
def propose(request: HttpRequest, ask_id: str) -> HttpResponse:
    """Say what to answer. Another person agrees."""
    row, form = asks.found(ask_id), AnswerForm(request.POST or None)

    def proposed() -> None:
        typed = form.cleaned_data
        answer, reason = typed["answer"], typed["reason"]
        asks.propose(ask=row, answer=answer, reason=reason, doer=doer_of(request), now=utc_now())

    if attempts.submits(request, form, proposed, done="Proposed. Another person approves it."):
        return redirect("desk:return_ask", row.pk)
    return _shown(request, row, "desk/instant/ask_propose.html", form=form)


@require_POST
@desk_page(SEE, asks.PROPOSES, is_fresh=True)
def take_back(request: HttpRequest, ask_id: str) -> HttpResponse:
    """Take back what one proposed oneself."""
    row, seen = asks.found(ask_id), request.POST.get("seen", "")

    def taken_back() -> None:
        asks.take_back(ask=row, seen=seen, doer=doer_of(request), now=utc_now())

    attempts.succeeds(request, taken_back, done="Taken back.")
    return redirect("desk:return_ask", row.pk)


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, asks.APPROVES, is_fresh=True)
def decide(request: HttpRequest, ask_id: str) -> HttpResponse:
    """Approve what somebody else proposed to answer, or reject it."""
    row, doer = asks.found(ask_id), doer_of(request)
    if request.method == "POST":
        seen = request.POST.get("seen", "")
        verdicts.decide(request, yes=_APPROVAL, no=_REJECTION, ask=row, seen=seen)
        return redirect("desk:return_ask", row.pk)
    return _shown(
        request,
        row,
        "desk/instant/ask_decide.html",
        proposed_by=doers.names_of([row.proposed_by]).get(row.proposed_by, ""),
        standing=_standing(row, doer),
        is_own=row.proposed_by == doer.name,
    )


def _standing(row: ReturnAsk, doer: Doer) -> Standing | None:
    """None where nothing waits."""
    if row.status != AskStatus.PROPOSED:
        return None
    return doers.standing(asks.APPROVES, asks.first_of(row), reader=doer)


def _owner(paid: Conversation) -> Owner:
    names = tenants.tenant_names([paid.tenant_id])
    available = balances.summary(paid.tenant_id).available
    return Owner(names.get(paid.tenant_id, ""), available)


def _shown(request: HttpRequest, row: ReturnAsk, template: str, **values: Any) -> HttpResponse:
    credit = row.conversation
    paid = credit.original if credit.original and not credit.mismatch else None
    return desk_render(
        request,
        template,
        title="Request for a return of funds",
        ask=row,
        credit=credit,
        other_side=words.other_side(credit),
        paid=paid,
        subject=page.subject_of(paid.instruction_id) if paid else None,
        owner=_owner(paid) if paid else None,
        why=asks.why(row),
        proposal=asks.proposal(row),
        to_do=asks.to_do(row),
        tone=asks.TONES[row.status],
        **values,
    )
