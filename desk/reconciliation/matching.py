"""Matches, and what people do with lines of the bank that no rule has matched."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from common.clock import utc_now
from dashboard.shell import paging
from desk import attempts, doers
from desk.access import desk_page, desk_render, doer_of
from desk.forms import ReasonForm
from desk.reconciliation import acts, lookups, shown
from desk.reconciliation.asked import Asked
from desk.reconciliation.days import SEE
from desk.reconciliation.shown import SHOWN
from reconciliation import repeats
from reconciliation.models import ClosedDay, StatementLine
from reconciliation.unmatched import lines as unmatched_lines


@require_safe
@desk_page(SEE)
def match(request: HttpRequest, match_id: str) -> HttpResponse:
    """The lines of a match, of the bank and of the books."""
    row = lookups.match(match_id)
    rows, after = paging.behind(
        row.of_books.all(), request.GET.get("after", ""), key="line", size=SHOWN
    )
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
def unmatch(request: HttpRequest, match_id: str) -> HttpResponse:
    """Set the lines of a match free again."""
    row, form = lookups.match(match_id), ReasonForm(request.POST or None)

    def unmatched() -> None:
        acts.unmatch(
            match=row, reason=form.cleaned_data["reason"], doer=doer_of(request), now=utc_now()
        )

    if attempts.submits(request, form, unmatched, done="Unmatched: its lines are free again."):
        return redirect("desk:reconciliation_open", row.rail_id)
    return desk_render(
        request,
        "desk/reconciliation/unmatch.html",
        title="Unmatch lines",
        match=row,
        form=form,
    )


@require_safe
@desk_page(SEE)
def open_lines(request: HttpRequest, rail: str) -> HttpResponse:
    """Lines of the bank that nothing explains, the oldest first."""
    account = lookups.account(rail)
    lines = list(unmatched_lines(account)[: SHOWN + 1])
    return desk_render(
        request,
        "desk/reconciliation/open.html",
        title=f"Unmatched lines of {account}",
        account=account,
        lines=lines[:SHOWN],
        again=repeats.sentences([line.pk for line in lines[:SHOWN]]),
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
            doer=doer_of(request),
            now=utc_now(),
        )

    if attempts.submits(request, form, made, done="Matched."):
        return redirect("desk:reconciliation_open", line.statement.account.rail_id)
    asked = Asked.of(request)
    others = unmatched_lines(line.statement.account).filter(statement=line.statement)
    return desk_render(
        request,
        "desk/reconciliation/match_line.html",
        title="Match a line of the bank",
        line=line,
        again=repeats.sentences([line.pk]),
        books=shown.books_lines(
            shown.candidates(line, amount=asked.cents),
            day=line.statement.last_day,
        ),
        others=others.exclude(pk=line.pk)[:SHOWN],
        asked=asked,
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
            doer=doer_of(request),
            now=utc_now(),
        )

    if attempts.submits(request, form, booked, done="Booked to suspense."):
        return redirect("desk:reconciliation_open", line.statement.account.rail_id)
    return desk_render(
        request,
        "desk/reconciliation/book_line.html",
        title="Book a line to suspense",
        line=line,
        form=form,
    )


def _numbers(request: HttpRequest, name: str) -> list[int]:
    """The lines that were ticked; 1,000 at most."""
    said = request.POST.getlist(name)[:1_000]
    if not all(each.isascii() and each.isdecimal() and len(each) <= 18 for each in said):
        raise Http404
    return [int(each) for each in said]
