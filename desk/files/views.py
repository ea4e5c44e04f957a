"""Files to banks: what goes at which cut-off, and who lets it go."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    QueryDict,
    StreamingHttpResponse,
)
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common.clock import utc_now
from common.errors import StaffRefusal
from dashboard.shell import pace, paging
from desk import doers, verdicts
from desk.access import View, desk_page, desk_render, doer_of
from desk.files import acts, answers, comparison, lines
from desk.files.forms import SpokenForm, TotalForm
from desk.forms import ReasonForm
from desk.proposals import lines as proposals
from desk.rails import stuck
from desk.verdicts import Verdict
from networks.ach.models import AchEntry, OutFile
from networks.ach.states import FileStatus

SEE = "ach.view_outfile"
HOLD = "ach.hold_outfile"
RELEASE = acts.RELEASES
SHOWN = 50
_OPEN = (FileStatus.BUILDING, FileStatus.BUILT, FileStatus.HELD, FileStatus.RELEASED)
_STEP_WORDS = {
    "hold": ("Hold", "It stays here until somebody releases the hold."),
    "unhold": ("Release the hold", "It is offered again, and two people release it."),
    "build-again": ("Build again", "The same entries are written and judged once more."),
    "take-apart": ("Take apart", "The file is given up. Its entries go with the next one."),
    "try-again": ("Try again", "A worker tries to send it once more. Mend the cause first."),
    "at-bank": (
        "The bank has it",
        "Another person approves it, and it counts as sent. Only if the bank said so: what it does"
        " not have is lost.",
    ),
    "not-at-bank": (
        "The bank does not have it",
        "Another person approves it, and a worker sends it again. Only if the bank said so: what it"
        " has moves money twice.",
    ),
}
_FOR_TWO = ("at-bank", "not-at-bank")
_CONFIRMATION = Verdict(answers.confirm, "Confirmed: it is the bank's answer.")
_REJECTION = Verdict(answers.reject, "Rejected.")
_PROPOSED = "Proposed. Another person approves it."
_HARMLESS = ("hold", "unhold", "build-again", "try-again")


@require_safe
@desk_page(SEE)
def files(request: HttpRequest) -> HttpResponse:
    """The day's cut-offs, what will go, files that are not sent, and those that were."""
    now = utc_now()
    rows: QuerySet[OutFile] = OutFile.objects.all()
    open_rows = rows.filter(status__in=_OPEN).order_by("cutoff_at", "pk")[:SHOWN]
    page = paging.page(rows, before=request.GET.get("before", ""), size=SHOWN)
    return desk_render(
        request,
        "desk/files/list.html",
        title="Files",
        days=lines.rail_days(now) if page.is_newest else [],
        open_files=[lines.file_line(row, now) for row in open_rows] if page.is_newest else [],
        files=[lines.file_line(row, now) for row in page.rows],
        page=page,
        now=now,
    )


@require_safe
@desk_page(SEE)
def file(request: HttpRequest, file_id: str) -> HttpResponse:
    """One file: its batches, its history, and what the bank said of it."""
    row, now = acts.found_file(file_id), utc_now()
    me = doer_of(request).name
    return desk_render(
        request,
        "desk/files/page.html",
        title=f"File {row}",
        file=row,
        line=lines.file_line(row, now),
        batches=lines.batch_lines(row),
        steps=lines.history(row),
        compared=comparison.of(row),
        answers=answers.of_file(row),
        proposals=proposals.of_subject(row.pk),
        is_mine=me in (row.built_by, row.first_released_by),
        may_go=row.status == FileStatus.BUILT,
        advice=stuck.advice(row.stuck_code),
        can_be_held=row.status in (FileStatus.BUILT, FileStatus.RELEASED),
        can_be_taken_apart=row.status in _OPEN,
    )


@require_safe
@desk_page(SEE)
def batch(request: HttpRequest, file_id: str, number: int) -> HttpResponse:
    """The entries of one batch, fifty a page."""
    row = acts.found_file(file_id)
    found = row.batches.select_related("originator").filter(batch_number=number).first()
    if found is None:
        raise Http404
    entries, after = paging.behind(
        AchEntry.objects.filter(batch=found), request.GET.get("after", ""), key="pk", size=SHOWN
    )
    return desk_render(
        request,
        "desk/files/batch.html",
        title=f"Batch {number} of {row}",
        file=row,
        batch=found,
        entries=entries,
        after=after,
    )


def _typed(request: HttpRequest) -> QueryDict | None:
    """What the second person sent; None when the page was that of the first one."""
    return request.POST if "total" in request.POST else None


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, RELEASE, is_fresh=True)
def release(request: HttpRequest, file_id: str) -> HttpResponse:
    """The first person confirms, the second one types the total."""
    row, now = acts.found_file(file_id), utc_now()
    is_second = row.first_released_at is not None
    form = TotalForm(_typed(request)) if is_second else None
    is_mine = doer_of(request).name in (row.built_by, row.first_released_by)
    if is_second and request.method == "POST" and not is_mine and not _typed(request):
        messages.warning(request, "Somebody made the first release just now. Yours is the second.")
    elif request.method == "POST" and (form is None or form.is_valid()):
        refusal = _released(request, row, form)
        if refusal is None:
            return redirect("desk:file", row.pk)
        if form is not None:
            form.add_error(None, refusal)
        else:
            messages.error(request, refusal)
            return redirect("desk:file", row.pk)
    return desk_render(
        request,
        "desk/files/release.html",
        title=f"Release {row}",
        file=row,
        line=lines.file_line(row, now),
        batches=lines.batch_lines(row),
        form=form,
        is_second=is_second,
        is_mine=is_mine,
    )


@require_http_methods(["GET", "HEAD", "POST"])
def step(request: HttpRequest, file_id: str, what: str) -> HttpResponseBase:
    """Hold a file, offer it again, build it again or take it apart: with a reason. What moves
    entries to another file, or says where a file is, asks again who it is."""
    if what not in acts.STEPS:
        raise Http404
    page: View = _step if what in _HARMLESS else _grave_step
    return page(request, file_id, what)


@desk_page(SEE, HOLD, is_fresh=True)
def _grave_step(request: HttpRequest, file_id: str, what: str) -> HttpResponseBase:
    return _take_step(request, file_id, what)


@desk_page(SEE, HOLD)
def _step(request: HttpRequest, file_id: str, what: str) -> HttpResponseBase:
    return _take_step(request, file_id, what)


def _take_step(request: HttpRequest, file_id: str, what: str) -> HttpResponse:
    row = acts.found_file(file_id)
    form, (label, explained) = ReasonForm(request.POST or None), _STEP_WORDS[what]
    if form.is_valid():
        try:
            acts.STEPS[what](
                file=row,
                reason=form.cleaned_data["reason"],
                doer=doer_of(request),
                now=utc_now(),
            )
        except StaffRefusal as refusal:
            form.add_error(None, refusal.detail)
        else:
            done = f"Done: {label.lower()}."
            messages.success(request, _PROPOSED if what in _FOR_TWO else done)
            return redirect("desk:file", row.pk)
    return desk_render(
        request,
        "desk/files/step.html",
        title=f"{label}: {row}",
        file=row,
        form=form,
        label=label,
        explained=explained,
        tone="primary" if what in _HARMLESS else "bad",
    )


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, HOLD, is_fresh=True)
def answer(request: HttpRequest, file_id: str) -> HttpResponse:
    """Write down what the bank says of a file by telephone. Another person confirms it."""
    row, form = acts.found_file(file_id), SpokenForm(request.POST or None)
    if form.is_valid():
        try:
            answers.propose(
                file=row,
                said=form.said,
                reason=form.cleaned_data["reason"],
                doer=doer_of(request),
                now=utc_now(),
            )
        except StaffRefusal as refusal:
            form.add_error(None, refusal.detail)
        else:
            messages.success(request, "Written down. Another person confirms it.")
            return redirect("desk:file", row.pk)
    return desk_render(
        request,
        "desk/files/answer.html",
        title=f"The bank's answer to {row}",
        file=row,
        batches=lines.batch_lines(row),
        form=form,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, RELEASE, is_fresh=True)
def decide_answer(request: HttpRequest, answer_id: str) -> HttpResponse:
    """Confirm what somebody else wrote down, or reject it."""
    row, doer = answers.found_answer(answer_id), doer_of(request)
    if request.method == "POST":
        verdicts.decide(request, yes=_CONFIRMATION, no=_REJECTION, word="confirm", answer=row)
        return redirect("desk:file", row.file_id)
    return desk_render(
        request,
        "desk/files/decide_answer.html",
        title=f"The bank's answer to {row.file}",
        file=row.file,
        line=answers.line_of(row),
        standing=doers.standing(RELEASE, row, reader=doer, verb="confirm") if row.is_open else None,
        is_own=row.proposed_by == doer.name,
    )


@require_POST
@desk_page(SEE, limit=pace.FILES)
def download(request: HttpRequest, file_id: str) -> HttpResponseBase:
    """The file as it is at the bank, with account numbers masked."""
    row = acts.found_file(file_id)
    if not row.chunk_count:
        raise Http404
    if not request.user.has_perm(HOLD) and not request.user.has_perm(RELEASE):
        raise PermissionDenied
    pieces = acts.download(file=row, doer=doer_of(request), now=utc_now())
    response = StreamingHttpResponse(pieces, content_type="text/plain; charset=us-ascii")
    response["Content-Disposition"] = f'attachment; filename="{row.remote_name}.masked.txt"'
    response["Cache-Control"] = "no-store"
    return response


def _released(request: HttpRequest, row: OutFile, form: TotalForm | None) -> str | None:
    """Why it was not released, or None."""
    try:
        if form is None:
            acts.release_first(file=row, doer=doer_of(request), now=utc_now())
        else:
            total = form.cleaned_data["total"]
            acts.release(file=row, total=total, doer=doer_of(request), now=utc_now())
    except StaffRefusal as refusal:
        return f"{refusal.detail} {refusal.advice}"
    words = "Released. A worker sends it now." if form else "A second person releases it now."
    messages.success(request, words)
    return None
