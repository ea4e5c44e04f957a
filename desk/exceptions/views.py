"""Exceptions: what banks said that a person has to decide about, and by when."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from common import crypto
from common.clock import utc_now
from common.errors import NotFound, StaffRefusal
from desk import doers
from desk.access import desk_page, desk_render, doer_of
from desk.entries import page as entries
from desk.exceptions import acts, codes, lines
from desk.exceptions.acts import Action
from desk.exceptions.line import until
from desk.forms import ReasonForm
from desk.items import people, standing
from desk.items.narrowing import Narrowing, Whose
from desk.proposals import lines as proposals
from networks.ach.inbound import changes
from networks.ach.models import (
    AchEntry,
    AchEvent,
    AchReply,
    Correction,
    InFile,
    InRecord,
    Originator,
)
from networks.base import CorrectionOutcome
from transfers.inbox.models import InboundEvent

SEE = "ach.view_inrecord"
DECIDE = "ach.change_inrecord"
ORIGINATORS = "ach.change_originator"
CANDIDATES_SHOWN = 10
_PROPOSED = "Proposed. Another person approves it."


@require_safe
@desk_page(SEE)
def exceptions(request: HttpRequest) -> HttpResponse:
    """The one list, or what of it is the reader's or nobody's."""
    now, number = utc_now(), request.GET.get("page", "1")
    whose = request.GET.get("whose", "")
    if number not in map(str, range(1, lines.PAGES_MAX + 1)) or whose not in Whose.values:
        raise Http404
    me, able = str(request.user.pk), people.able()
    only = Narrowing(Whose(whose), me, able.keys())
    found = lines.exceptions(page=int(number), now=now, only=only)
    standings = standing.of_items(found.subjects, me=me, able=able)
    return desk_render(
        request,
        "desk/exceptions/list.html",
        title="Exceptions",
        found=found,
        lines=[(line, standings[line.subject]) for line in found.lines],
        whose=only.whose,
        choices=Whose.choices,
        now=now,
    )


@require_safe
@desk_page(SEE)
def record(request: HttpRequest, record_id: int) -> HttpResponse:
    """One record: what the bank said, what fits it, and what can be done."""
    row, now = acts.found_record(record_id), utc_now()
    deadline = until(row.due_on)
    actions = _possible(acts.RECORD_ACTIONS, row)
    correction = Correction.objects.filter(record=row).first()
    return desk_render(
        request,
        "desk/exceptions/record.html",
        title=lines.record_title(row),
        record=row,
        to_do=lines.to_do(row, can_be_applied="apply" in dict(actions)),
        sender=lines.sender(row),
        note=codes.in_words(row.note),
        deadline=deadline,
        seconds=int((deadline - now).total_seconds()) if deadline else 0,
        raw=entries.masked(row.raw_token, row.encryption_context),
        candidates=_candidates(row),
        correction=correction,
        change=_change(correction),
        message_id=_message_id(correction),
        replies=_replies(row),
        decided_by=doers.names_of([row.decided_by]).get(row.decided_by, ""),
        actions=actions,
    )


@require_safe
@desk_page(SEE)
def file(request: HttpRequest, file_id: str) -> HttpResponse:
    """One file that was set aside: its faults, and what can be done."""
    row = acts.found_file(file_id)
    return desk_render(
        request,
        "desk/exceptions/file.html",
        title=f"File {row.name}",
        file=row,
        resolved_by=doers.names_of([row.resolved_by]).get(row.resolved_by, ""),
        actions=_possible(acts.FILE_ACTIONS, row),
        proposals=proposals.of_subject(row.pk),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, DECIDE, is_fresh=True)
def decide_record(request: HttpRequest, record_id: int, what: str) -> HttpResponse:
    """Decide about a record."""
    row = acts.found_record(record_id)
    return _decide(request, "record", what, acts.RECORD_ACTIONS.get(what), row)


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, DECIDE, is_fresh=True)
def decide_file(request: HttpRequest, file_id: str, what: str) -> HttpResponse:
    """Decide about a file."""
    row = acts.found_file(file_id)
    return _decide(request, "file", what, acts.FILE_ACTIONS.get(what), row)


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, DECIDE)
def withdraw_reply(request: HttpRequest, reply_id: str) -> HttpResponse:
    """Take back a dishonor or a refusal that is in no file yet."""
    reply, form = acts.found_reply(reply_id), ReasonForm(request.POST or None)
    if form.is_valid():
        try:
            acts.withdraw_reply(
                reply=reply,
                reason=form.cleaned_data["reason"],
                doer=doer_of(request),
                now=utc_now(),
            )
        except StaffRefusal as refusal:
            form.add_error(None, refusal.detail)
        else:
            messages.success(request, f"{reply.code} is not sent.")
            return redirect("desk:exception_record", reply.record_id)
    title = f"Take back {reply.code}"
    return desk_render(request, "desk/exceptions/reply.html", title=title, reply=reply, form=form)


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, ORIGINATORS, is_fresh=True)
def release_debits(request: HttpRequest, name: str, originator_id: str) -> HttpResponse:
    """Let the debits of an originator go on that its returns had stopped."""
    if "\0" in name + originator_id:
        raise Http404
    row = Originator.objects.filter(pk=originator_id, rail_id=name).first()
    if row is None:
        raise NotFound("There is no such originator.")
    form = ReasonForm(request.POST or None)
    if form.is_valid():
        try:
            acts.release_debits(
                originator=row,
                reason=form.cleaned_data["reason"],
                doer=doer_of(request),
                now=utc_now(),
            )
        except StaffRefusal as refusal:
            form.add_error(None, refusal.detail)
        else:
            messages.success(request, _PROPOSED)
            return redirect("desk:exceptions")
    title = f"Let debits of {row.company_name} go on"
    return desk_render(
        request, "desk/exceptions/debits.html", title=title, originator=row, form=form
    )


def _decide(
    request: HttpRequest, kind: str, what: str, action: Action | None, row: InRecord | InFile
) -> HttpResponse:
    if action is None:
        raise Http404
    form = action.form(request.POST or None)
    if form.is_valid():
        try:
            acts.decide(
                kind,
                what,
                row=row,
                values=form.cleaned_data,
                doer=doer_of(request),
                now=utc_now(),
            )
        except StaffRefusal as refusal:
            form.add_error(None, refusal.detail)
        else:
            done = f"Done: {action.label.lower()}."
            messages.success(request, _PROPOSED if action.is_for_two else done)
            return redirect("desk:exceptions")
    return desk_render(
        request,
        "desk/exceptions/decide.html",
        title=action.label,
        subject=lines.record_title(row) if isinstance(row, InRecord) else row.name,
        note=codes.in_words(row.note) if isinstance(row, InRecord) else "",
        candidates=_candidates(row) if what == "match" and isinstance(row, InRecord) else [],
        action=action,
        form=form,
        back=_address(row),
    )


def _address(row: InRecord | InFile) -> str:
    page = "desk:exception_record" if isinstance(row, InRecord) else "desk:exception_file"
    return redirect(page, row.pk).url


def _possible(actions: dict[str, Action], row: InRecord | InFile) -> list[tuple[str, Action]]:
    return [(name, action) for name, action in actions.items() if action.possible(row)]


def _candidates(row: InRecord) -> list[AchEntry]:
    """Entries of ours with the trace number that a record names, the newest first."""
    if not row.original_trace:
        return []
    found = AchEntry.objects.filter(rail_id=row.rail_id, trace_number=row.original_trace)
    return list(found.order_by("-pk")[:CANDIDATES_SHOWN])


def _replies(row: InRecord) -> list[AchReply]:
    """Our answers to a record, oldest first."""
    rows = AchReply.objects.filter(record=row).select_related("batch__file")
    return list(rows.order_by("decided_at")[:CANDIDATES_SHOWN])


def _change(correction: Correction | None) -> list[tuple[str, str, str]]:
    """What a change corrects: the field, what it was and what it becomes, accounts masked."""
    if correction is None or not correction.corrected_token:
        return []
    try:
        was, becomes = changes.before(correction), changes.details(correction)
    except crypto.Undecryptable:
        return []
    pairs = (
        ("Routing number", was.routing_number, becomes.routing_number),
        ("Account", _last4(was.account_number), _last4(becomes.account_number)),
        ("Kind of account", str(was.account_type), str(becomes.account_type or "")),
        ("Name", was.text, becomes.name),
    )
    return [(label, old, new) for label, old, new in pairs if new and old != new]


def _last4(number: str) -> str:
    return f"··{number.strip()[-4:]}" if number.strip() else ""


def _message_id(correction: Correction | None) -> int | None:
    """The message by which a correction was told, where a person has to settle it."""
    if correction is None or correction.outcome != CorrectionOutcome.REVIEW:
        return None
    told = AchEvent.objects.filter(entry=correction.entry_id, correction=correction)
    event = told.order_by("-pk").first()
    rows = InboundEvent.objects.filter(network=correction.entry.rail_id)
    found = rows.filter(event_id=event.event_id).first() if event else None
    return found.pk if found else None
