"""Reconciliation: the day at a glance, from each figure to the lines behind it, and what people do
where the books and the bank differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.contrib import messages
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.dateparse import parse_date
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common.clock import utc_now
from common.errors import StaffRefusal
from common.money import parse_dollars
from dashboard.shell import paging
from desk import doers
from desk.access import actor_of, desk_page, desk_render
from desk.doers import Doer, person
from desk.forms import ReasonForm
from desk.reconciliation import acts, lookups, shown
from desk.reconciliation.forms import ClearForm, NoteForm
from desk.reconciliation.shown import SHOWN
from reconciliation import accounts, clearing, closing, figures
from reconciliation.models import (
    BankStatement,
    ClearingKind,
    ClosedDay,
    ExpectedLine,
    SettlementAccount,
    StatementLine,
)

SEE = "reconciliation.view_closedday"


@dataclass(frozen=True)
class Rail:
    """A settlement account: the day that is next to close, and why it does not; or its last closed
    day while the next statement is not here."""

    account: SettlementAccount
    found: figures.Figures
    ages: list[shown.Age]
    reasons: tuple[str, ...]


@require_safe
@desk_page(SEE)
def overview(request: HttpRequest) -> HttpResponse:
    """The open day of each account, and how much waits for people."""
    return desk_render(
        request,
        "desk/reconciliation/overview.html",
        title="Reconciliation",
        rails=[_rail(account) for account in accounts.in_force()],
        suspense=shown.in_suspense().count(),
    )


@require_safe
@desk_page(SEE)
def history(request: HttpRequest, rail: str) -> HttpResponse:
    """The closed days of an account, the newest first."""
    account = lookups.account(rail)
    page = paging.page(
        shown.closed_days(rail),
        before=request.GET.get("before", ""),
        keys=("day", "id"),
        size=SHOWN,
    )
    return desk_render(
        request,
        "desk/reconciliation/history.html",
        title=f"Closed days of {account}",
        account=account,
        page=page,
    )


@require_safe
@desk_page(SEE)
def day(request: HttpRequest, rail: str, day: str) -> HttpResponse:
    """One day: its figures, and its matches."""
    account, on = lookups.account(rail), _date(day)
    found = figures.of(account, on)
    statement = BankStatement.objects.filter(account__rail=rail, last_day=on).first()
    if statement is None and found.closed is None:
        raise Http404
    page = paging.page(
        shown.matches(rail, on), before=request.GET.get("before", ""), keys=("id",), size=SHOWN
    )
    closed_by = found.closed.closed_by if found.closed else ""
    return desk_render(
        request,
        "desk/reconciliation/day.html",
        title=f"{on:%B %-d, %Y}",
        account=account,
        found=found,
        ages=shown.ages(found),
        statement=statement,
        closed_by=doers.names_of([closed_by]).get(closed_by, "") if closed_by else "",
        reasons=() if found.closed else closing.obstacles(account, found),
        page=page,
    )


@require_POST
@desk_page(SEE, acts.CLOSES, is_fresh=True)
def close(request: HttpRequest, rail: str) -> HttpResponse:
    """Close the next day of an account."""
    try:
        closed = acts.close_day(rail=rail, doer=_doer(request), now=utc_now())
    except StaffRefusal as refusal:
        messages.error(request, f"{refusal.detail} {refusal.advice}")
        return redirect("desk:reconciliation")
    messages.success(request, f"{closed.day:%B %-d, %Y} is closed at a difference of $0.00.")
    return redirect("desk:reconciliation_day", rail, closed.day.isoformat())


@require_safe
@desk_page(SEE)
def transit(request: HttpRequest, rail: str, day: str) -> HttpResponse:
    """What was or is in transit on a day, line by line, the oldest first; and what the bank showed
    first."""
    account, on = lookups.account(rail), _date(day)
    rows, after = _after(
        shown.in_transit(account, on).order_by("line"), request.GET.get("after", "")
    )
    return desk_render(
        request,
        "desk/reconciliation/transit.html",
        title=f"In transit on {on:%B %-d, %Y}",
        account=account,
        day=on,
        lines=shown.books_lines(rows, day=on),
        after=after,
        ahead=shown.books_lines(list(shown.ahead(account, on).order_by("line")[:SHOWN])),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, acts.EXPLAINS, is_fresh=True)
def explain(request: HttpRequest, rail: str, line: int) -> HttpResponse:
    """Say why a line of the books is long in transit."""
    lookups.account(rail)
    rows = ExpectedLine.objects.filter(rail=rail, line=line)
    row = rows.first() if line < 2**63 else None
    if row is None:
        raise Http404
    form = NoteForm(request.POST or None)

    def write() -> None:
        acts.explain(line=line, doer=_doer(request), now=utc_now(), **form.cleaned_data)

    if _done(request, form, write, "Written. It keeps no day open until then."):
        return redirect("desk:reconciliation")
    (of_books,) = shown.books_lines([row], day=row.counts_on)
    return desk_render(
        request,
        "desk/reconciliation/explain.html",
        title="A line long in transit",
        line=of_books,
        form=form,
    )


@require_safe
@desk_page(SEE)
def match(request: HttpRequest, match_id: str) -> HttpResponse:
    """The lines of a match, of the bank and of the books."""
    row = lookups.match(match_id)
    rows, after = _after(row.of_books.order_by("line"), request.GET.get("after", ""))
    bank = StatementLine.objects.filter(matched__match=row).select_related("statement")
    is_open = not ClosedDay.objects.filter(rail=row.rail_id, day__gte=row.day).exists()
    return desk_render(
        request,
        "desk/reconciliation/match.html",
        title=str(row),
        match=row,
        made_by=doers.names_of([row.made_by]).get(row.made_by, ""),
        bank=bank.order_by("pk")[:SHOWN],
        lines=shown.books_lines(rows),
        after=after,
        is_open=is_open and row.voided_at is None,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, acts.MATCHES, is_fresh=True)
def take_apart(request: HttpRequest, match_id: str) -> HttpResponse:
    """Set the lines of a match free again."""
    row, form = lookups.match(match_id), ReasonForm(request.POST or None)

    def apart() -> None:
        acts.take_apart(
            match=row, reason=form.cleaned_data["reason"], doer=_doer(request), now=utc_now()
        )

    if _done(request, form, apart, "Taken apart: its lines are free again."):
        return redirect("desk:reconciliation_open", row.rail_id)
    return desk_render(
        request,
        "desk/reconciliation/take_apart.html",
        title="Take a match apart",
        match=row,
        form=form,
    )


@require_safe
@desk_page(SEE)
def open_lines(request: HttpRequest, rail: str) -> HttpResponse:
    """Lines of the bank that nothing explains, the oldest first."""
    account = lookups.account(rail)
    lines = list(shown.open_bank(account)[: SHOWN + 1])
    return desk_render(
        request,
        "desk/reconciliation/open.html",
        title=f"Unmatched lines of {account}",
        account=account,
        lines=lines[:SHOWN],
        has_more=len(lines) > SHOWN,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, acts.MATCHES, is_fresh=True)
def match_line(request: HttpRequest, line_id: int) -> HttpResponse:
    """Choose what belongs to a line of the bank."""
    line, form = lookups.line(line_id), ReasonForm(request.POST or None)

    def made() -> None:
        acts.match(
            line=line,
            also=_numbers(request, "also"),
            books=_numbers(request, "books"),
            reason=form.cleaned_data["reason"],
            doer=_doer(request),
            now=utc_now(),
        )

    if _done(request, form, made, "Matched."):
        return redirect("desk:reconciliation_open", line.statement.account.rail_id)
    amount, is_asked = _asked(request)
    rows = list(shown.candidates(line, amount=amount if is_asked else None)[:SHOWN])
    others = shown.open_bank(line.statement.account).filter(statement=line.statement)
    return desk_render(
        request,
        "desk/reconciliation/match_line.html",
        title="Match a line of the bank",
        line=line,
        books=shown.books_lines(rows, day=line.statement.last_day),
        others=others.exclude(pk=line.pk)[:SHOWN],
        amount=request.GET.get("amount", ""),
        is_wrong=is_asked and amount is None,
        chosen={*_numbers(request, "also"), *_numbers(request, "books")},
        form=form,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, acts.MATCHES, is_fresh=True)
def book_line(request: HttpRequest, line_id: int) -> HttpResponse:
    """Book a line that the books do not know to suspense."""
    line, form = lookups.line(line_id), ReasonForm(request.POST or None)

    def booked() -> None:
        acts.book_line(
            line=line,
            reason=form.cleaned_data["reason"],
            doer=_doer(request),
            now=utc_now(),
        )

    if _done(request, form, booked, "Booked to suspense."):
        return redirect("desk:reconciliation_open", line.statement.account.rail_id)
    return desk_render(
        request,
        "desk/reconciliation/book_line.html",
        title="Book a line to suspense",
        line=line,
        form=form,
    )


@require_safe
@desk_page(SEE)
def suspense(request: HttpRequest) -> HttpResponse:
    """What lies in suspense, the oldest first."""
    found = list(shown.in_suspense()[: SHOWN + 1])
    return desk_render(
        request,
        "desk/reconciliation/suspense.html",
        title="Suspense",
        lines=shown.with_proposals(found[:SHOWN]),
        has_more=len(found) > SHOWN,
    )


@require_safe
@desk_page(SEE)
def suspense_line(request: HttpRequest, booked_id: str) -> HttpResponse:
    """One line in suspense, and what was proposed about it."""
    row = lookups.booked(booked_id)
    rows = list(row.clearings.select_related("other").order_by("-proposed_at"))
    return desk_render(
        request,
        "desk/reconciliation/suspense_line.html",
        title="Line in suspense",
        booked=row,
        clearings=rows,
        names=doers.names_of(name for each in rows for name in (each.proposed_by, each.decided_by)),
        is_open=clearing.in_suspense(row),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, acts.PROPOSES, is_fresh=True)
def clear(request: HttpRequest, booked_id: str) -> HttpResponse:
    """Propose what a line in suspense was."""
    row, form = lookups.booked(booked_id), ClearForm(request.POST or None)

    def proposed() -> None:
        said = form.cleaned_data
        acts.propose_clearing(
            booked=row,
            kind=ClearingKind(said["kind"]),
            other=said["other"] or None,
            adjustment_id=said["adjustment"],
            expected_line=said["expected_line"],
            reason=said["reason"],
            doer=_doer(request),
            now=utc_now(),
        )

    if _done(request, form, proposed, "Proposed. Another person approves it."):
        return redirect("desk:suspense_line", row.pk)
    return desk_render(
        request,
        "desk/reconciliation/clear.html",
        title="What was it?",
        booked=row,
        form=form,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, acts.APPROVES, is_fresh=True)
def decide(request: HttpRequest, clearing_id: str) -> HttpResponse:
    """Approve what somebody else proposed of a line in suspense, or reject it."""
    row, doer = lookups.clearing(clearing_id), _doer(request)
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and request.POST.get("decision") == "approve":
        if _tried(request, lambda: acts.approve_clearing(proposal=row, doer=doer, now=utc_now())):
            messages.success(request, "Approved: it is cleared.")
        return redirect("desk:suspense_line", row.booked_id)

    def rejected() -> None:
        acts.reject_clearing(
            proposal=row, refusal=form.cleaned_data["reason"], doer=doer, now=utc_now()
        )

    if _done(request, form, rejected, "Rejected: it stays in suspense."):
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


def _rail(account: SettlementAccount) -> Rail:
    next_one = account.statements.filter(closed_day=None).order_by("last_day").first()
    if next_one:
        found = figures.now_of(account, next_one.last_day)
        return Rail(account, found, shown.ages(found), tuple(closing.obstacles(account, found)))
    day = figures.base_of(account).day
    # The day before an account that begins anew is closed, too, and not its own.
    found = (figures.of if account.statements.exists() else figures.now_of)(account, day)
    return Rail(account, found, shown.ages(found), ())


def _after(rows: Any, after: str) -> tuple[list[ExpectedLine], int | None]:
    """Fifty rows behind the line `after`, and behind which one the next page begins."""
    if after:
        if not after.isascii() or not after.isdecimal() or len(after) > 18:
            raise Http404
        rows = rows.filter(line__gt=int(after))
    found = list(rows[: SHOWN + 1])
    return found[:SHOWN], found[SHOWN - 1].line if len(found) > SHOWN else None


def _done(request: HttpRequest, form: Form, act: Callable[[], object], words: str) -> bool:
    """Whether what was typed is right and was done. A refusal stands in the form."""
    if request.method != "POST" or not form.is_valid():
        return False
    try:
        act()
    except StaffRefusal as refusal:
        form.add_error(None, f"{refusal.detail} {refusal.advice}")
        return False
    messages.success(request, words)
    return True


def _tried(request: HttpRequest, act: Callable[[], object]) -> bool:
    try:
        act()
    except StaffRefusal as refusal:
        messages.error(request, f"{refusal.detail} {refusal.advice}")
        return False
    return True


def _numbers(request: HttpRequest, name: str) -> list[int]:
    """The lines that were ticked; 1,000 at most."""
    said = request.POST.getlist(name)[:1_000]
    if not all(each.isascii() and each.isdecimal() and len(each) <= 18 for each in said):
        raise Http404
    return [int(each) for each in said]


def _asked(request: HttpRequest) -> tuple[int | None, bool]:
    """The amount that is looked for, in cents; and whether one is."""
    text = request.GET.get("amount", "").strip()
    if not text:
        return None, False
    sign, digits = (-1, text[1:]) if text[0] in "-−" else (1, text)
    cents = parse_dollars(digits)
    return (sign * cents if cents else None), True


def _date(text: str) -> date:
    try:
        found = parse_date(text)
    except ValueError as error:
        raise Http404 from error
    if found is None:
        raise Http404
    return found


def _doer(request: HttpRequest) -> Doer:
    return person(actor_of(request))
