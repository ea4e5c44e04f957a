"""Bank statements: which days are proven, what was set aside, and who our accounts are."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common import crypto
from common.clock import utc_now
from common.errors import StaffRefusal
from dashboard.shell import pace, paging
from desk import doers, verdicts
from desk.access import desk_page, desk_render, doer_of
from desk.proposals import lines as proposals
from desk.proposals.lines import ProposalLine
from desk.statements import acts
from desk.statements.forms import AccountForm, UploadForm
from desk.verdicts import Verdict
from networks.ach.inbound.storing import NotStorable
from networks.ach.models import InFile
from networks.ach.models.inbound import InFolder
from networks.ach.models.proposals import ProposalKind
from networks.ach.states import InFileStatus
from reconciliation.models import BankStatement, SettlementAccount
from reconciliation.states import AccountStatus

SEE = "reconciliation.view_bankstatement"
UPLOAD = "reconciliation.upload_bankstatement"
REVEAL = "reconciliation.reveal_statementline"
SHOWN = 50
_APPROVAL = Verdict(acts.approve_account, "In force: its statements are taken.")
_REJECTION = Verdict(acts.reject_account, "Rejected.")
_STORED = "Stored. It is taken once another person approves it."
_KNOWN = "We have this file already: nothing was written."
_ACCOUNTS_SHOWN = 50
_WAITING_SHOWN = 20


@dataclass(frozen=True)
class AccountLine:
    """An account, and the statement up to which it is proven."""

    row: SettlementAccount
    last: BankStatement | None


@require_safe
@desk_page(SEE)
def statements(request: HttpRequest) -> HttpResponse:
    """Our accounts, what waits for a person, and all statements, the newest first."""
    rows = BankStatement.objects.select_related("account")
    page = paging.page(
        rows, before=request.GET.get("before", ""), keys=("last_day", "id"), size=SHOWN
    )
    return desk_render(
        request,
        "desk/statements/list.html",
        title="Statements",
        accounts=_accounts() if page.is_newest else [],
        proposals=_uploads() if page.is_newest else [],
        waiting=_waiting() if page.is_newest else [],
        page=page,
    )


@require_safe
@desk_page(SEE)
def statement(request: HttpRequest, statement_id: str) -> HttpResponse:
    """One statement with its lines, fifty a page."""
    row = acts.found_statement(statement_id)
    lines, after = paging.behind(
        row.lines.all(), request.GET.get("after", ""), key="position", size=SHOWN
    )
    return desk_render(
        request,
        "desk/statements/page.html",
        title=str(row),
        statement=row,
        uploaded_by=doers.names_of([row.file.uploaded_by]).get(row.file.uploaded_by, ""),
        lines=lines,
        after=after,
    )


@require_POST
@desk_page(SEE, REVEAL, is_fresh=True, limit=pace.FILES)
def line(request: HttpRequest, statement_id: str, position: int) -> HttpResponse:
    """What one line says of people, and its record in the file. The audit log says who read it."""
    row = acts.found_statement(statement_id)
    found = row.lines.filter(position=position).first() if position < 2**31 else None
    if found is None:
        raise Http404
    try:
        said = acts.reveal(line=found, doer=doer_of(request), now=utc_now())
        record = acts.record_of(found)
    except crypto.Undecryptable:
        said, record = {"text": "It does not open: call a developer."}, ""
    response = desk_render(
        request,
        "desk/statements/line.html",
        title=f"Line {position}",
        statement=row,
        line=found,
        said=said,
        record=record,
    )
    response["Cache-Control"] = "no-store"
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, UPLOAD, is_fresh=True)
def upload(request: HttpRequest) -> HttpResponse:
    """Store a statement that somebody has from the bank. Another person approves it."""
    form = UploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        try:
            stored = acts.upload(
                rail=form.cleaned_data["rail"],
                name=file.name,
                content=file.chunks(),
                reason=form.cleaned_data["reason"],
                doer=doer_of(request),
                now=utc_now(),
            )
        except NotStorable as refusal:
            form.add_error("file", str(refusal))
        except StaffRefusal as refusal:
            form.add_error(None, refusal.detail)
        else:
            messages.success(request, _STORED if stored.is_new else _KNOWN)
            return redirect("desk:statements")
    return desk_render(
        request, "desk/statements/form.html", title="Upload a statement", form=form, submit="Upload"
    )


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, acts.PROPOSES, is_fresh=True)
def propose_account(request: HttpRequest) -> HttpResponse:
    """Propose an account whose statements are taken. Another person puts it in force."""
    form = AccountForm(request.POST or None)
    if form.is_valid():
        try:
            acts.propose_account(
                opening=form.opening,
                reason=form.cleaned_data["reason"],
                doer=doer_of(request),
                now=utc_now(),
            )
        except StaffRefusal as refusal:
            form.add_error(None, refusal.detail)
        else:
            messages.success(request, "Proposed. Another person puts it in force.")
            return redirect("desk:statements")
    return desk_render(
        request,
        "desk/statements/form.html",
        title="New settlement account",
        form=form,
        submit="Propose",
    )


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, acts.APPROVES, is_fresh=True)
def decide_account(request: HttpRequest, account_id: str) -> HttpResponse:
    """Put an account in force that somebody else proposed, or reject it."""
    row, doer = acts.found_account(account_id), doer_of(request)
    if request.method == "POST":
        verdicts.decide(request, yes=_APPROVAL, no=_REJECTION, account=row)
        return redirect("desk:statements")
    names = doers.names_of([row.proposed_by, row.decided_by])
    return desk_render(
        request,
        "desk/statements/account.html",
        title=f"Settlement account {row}",
        account=row,
        proposed_by=names.get(row.proposed_by, ""),
        decided_by=names.get(row.decided_by, ""),
        standing=doers.standing(acts.APPROVES, row, reader=doer) if row.is_open else None,
        is_own=row.proposed_by == doer.name,
    )


def _accounts() -> list[AccountLine]:
    """Those in force and those that wait. Two queries."""
    rows = SettlementAccount.objects.exclude(status=AccountStatus.REJECTED)
    newest_first = rows.order_by("rail", "fingerprint", "status", "-decided_at")
    shown = list(newest_first.distinct("rail", "fingerprint", "status")[:_ACCOUNTS_SHOWN])
    newest = BankStatement.objects.filter(account__in=shown).order_by("account", "-last_day")
    last = {row.account_id: row for row in newest.distinct("account")}
    return [AccountLine(row, last.get(row.pk)) for row in shown]


def _uploads() -> list[ProposalLine]:
    """What was uploaded and waits for a second person, the oldest first."""
    rows = proposals.open_ones().filter(kind=ProposalKind.TAKE_STATEMENT)
    return proposals.lines_of(list(rows[:_WAITING_SHOWN]))


def _waiting() -> list[InFile]:
    """Files that were set aside, the oldest first."""
    rows = InFile.objects.filter(folder=InFolder.STATEMENTS, status=InFileStatus.REVIEW)
    return list(rows.order_by("received_at", "pk")[:_WAITING_SHOWN])
