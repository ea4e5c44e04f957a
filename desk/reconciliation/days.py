"""The day at a glance, from each figure to the lines behind it, and the days that are closed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.dateparse import parse_date
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common.clock import utc_now
from dashboard.shell import paging
from desk import attempts, doers
from desk.access import desk_page, desk_render, doer_of
from desk.reconciliation import acts, lookups, shown, waiting
from desk.reconciliation.forms import NoteForm
from desk.reconciliation.shown import SHOWN
from reconciliation import accounts, closing, figures
from reconciliation.models import BankStatement, ExpectedLine, SettlementAccount

SEE = "reconciliation.view_closedday"


@dataclass(frozen=True)
class Day:
    """A day of a settlement account for its reader: its figures, why it stays open, and whether it
    is the one that closes next."""

    account: SettlementAccount
    found: figures.Figures
    ages: list[shown.Age]
    statement: BankStatement | None
    reasons: tuple[str, ...]
    is_next: bool

    @property
    def can_close(self) -> bool:
        return self.is_next and not self.reasons


@require_safe
@desk_page(SEE)
def overview(request: HttpRequest) -> HttpResponse:
    """The open day of each account, and how much waits for people."""
    return desk_render(
        request,
        "desk/reconciliation/overview.html",
        title="Reconciliation",
        days=[_current(account) for account in accounts.in_force()],
        waiting=waiting.in_suspense(),
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
    """One day: its figures, its matches, and the days beside it."""
    account, on = lookups.account(rail), _date(day)
    statement = lookups.statement(rail, on)
    found = figures.of(account, on)
    if statement is None and found.closed is None:
        raise Http404
    page = paging.page(
        shown.matches(rail, on), before=request.GET.get("before", ""), keys=("id",), size=SHOWN
    )
    closed_by = found.closed.closed_by if found.closed else ""
    before, after = shown.days_beside(rail, on)
    return desk_render(
        request,
        "desk/reconciliation/day.html",
        title=f"{on:%B %-d, %Y}",
        day=_day(account, found, statement),
        closed_by=doers.names_of([closed_by]).get(closed_by, "") if closed_by else "",
        before=before,
        after=after,
        waiting=None if found.closed else waiting.in_suspense(),
        page=page,
    )


@require_POST
@desk_page(SEE, acts.CLOSES, is_fresh=True)
def close(request: HttpRequest, rail: str, day: str) -> HttpResponse:
    """Close the day that somebody looked at, if it is the next one of the account."""
    lookups.account(rail)
    on = _date(day)
    if lookups.statement(rail, on) is None:
        raise Http404

    def closed() -> None:
        acts.close_day(rail=rail, doer=doer_of(request), now=utc_now(), only=on)

    done = f"{on:%B %-d, %Y} is closed at a difference of $0.00."
    attempts.succeeds(request, closed, done=done)
    return redirect("desk:reconciliation_day", rail, on.isoformat())


@require_safe
@desk_page(SEE)
def books(request: HttpRequest, rail: str, day: str) -> HttpResponse:
    """What the books say of a day: what they said before, and each line since."""
    account, on = lookups.account(rail), _date(day)
    base, rows = shown.counted(account, on)
    sums = shown.sums_of(rows)
    lines, after = paging.behind(rows, request.GET.get("after", ""), key="line", size=SHOWN)
    return desk_render(
        request,
        "desk/reconciliation/books.html",
        title=f"Books on {on:%B %-d, %Y}",
        account=account,
        day=on,
        base=base,
        sums=sums,
        total=base.cents + sums.net,
        lines=shown.books_lines(lines),
        after=after,
    )


@require_safe
@desk_page(SEE)
def transit(request: HttpRequest, rail: str, day: str) -> HttpResponse:
    """What was or is in transit on a day, line by line, all or those of one age; and what the bank
    showed first."""
    account, on = lookups.account(rail), _date(day)
    age = _age(request.GET.get("age", ""))
    rows, after = paging.behind(
        shown.in_transit(account, on, age=age),
        request.GET.get("after", ""),
        key="line",
        size=SHOWN,
    )
    return desk_render(
        request,
        "desk/reconciliation/transit.html",
        title=f"In transit on {on:%B %-d, %Y}",
        account=account,
        day=on,
        age=age,
        age_words="" if age is None else shown.AGES[age],
        lines=shown.books_lines(rows, day=on),
        after=after,
    )


@require_safe
@desk_page(SEE)
def ahead(request: HttpRequest, rail: str, day: str) -> HttpResponse:
    """What a statement up to a day shows and the books count later."""
    account, on = lookups.account(rail), _date(day)
    rows, after = paging.behind(
        shown.ahead(account, on), request.GET.get("after", ""), key="line", size=SHOWN
    )
    return desk_render(
        request,
        "desk/reconciliation/ahead.html",
        title=f"Shown first by the bank on {on:%B %-d, %Y}",
        account=account,
        day=on,
        lines=shown.books_lines(rows),
        after=after,
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
        acts.explain(line=line, doer=doer_of(request), now=utc_now(), **form.cleaned_data)

    if attempts.submits(request, form, write, done="Written. It keeps no day open until then."):
        return redirect("desk:reconciliation")
    (of_books,) = shown.books_lines([row], day=row.counts_on)
    return desk_render(
        request,
        "desk/reconciliation/explain.html",
        title="A line long in transit",
        line=of_books,
        form=form,
    )


def _current(account: SettlementAccount) -> Day:
    """The day that closes next, or the last one while the next statement is not here."""
    if statement := closing.next_statement(account):
        return _day(account, figures.now_of(account, statement.last_day), statement)
    last = figures.base_of(account).day
    # The day before an account that begins anew is closed, too, and not its own.
    found = (figures.of if account.statements.exists() else figures.now_of)(account, last)
    return _day(account, found, found.closed.statement if found.closed else None)


def _day(
    account: SettlementAccount, found: figures.Figures, statement: BankStatement | None
) -> Day:
    closes = closing.next_statement(account)
    is_next = closes is not None and closes == statement
    reasons: tuple[str, ...] = ()
    if not found.closed and statement:
        reasons = tuple(closing.obstacles(account, found))
        if closes and not is_next:
            reasons = (f"{closes.last_day:%B %-d, %Y} closes first.", *reasons)
    return Day(account, found, shown.ages(found), statement, reasons, is_next)


def _age(text: str) -> int | None:
    """Of how many banking days; None for all. Raises Http404."""
    if not text:
        return None
    if text not in map(str, shown.AGES):
        raise Http404
    return int(text)


def _date(text: str) -> date:
    try:
        found = parse_date(text)
    except ValueError as error:
        raise Http404 from error
    if found is None:
        raise Http404
    return found
