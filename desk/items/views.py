"""Notes on an item and its assignee: read, written and given away."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common.clock import utc_now
from common.errors import StaffRefusal
from dashboard.shell import paging
from desk.access import desk_page, desk_render, doer_of
from desk.items import assigning, notes, panel, people, subjects
from desk.items.assigning import NOBODY
from desk.items.forms import AssignForm, NoteForm
from desk.items.subjects import Item, Subject

SHOWN = 50


@require_safe
@desk_page(notes.READS)
def item(request: HttpRequest, kind: str, subject_id: str) -> HttpResponse:
    """All notes on an item, and who had it: the newest first."""
    found = _found(request, kind, subject_id)
    rows = notes.of_item(found.subject)
    page = paging.page(rows, before=request.GET.get("before", ""), size=SHOWN)
    history = assigning.of_item(found.subject).order_by("-number")[:SHOWN]
    return desk_render(
        request,
        "desk/items/page.html",
        title=f"Notes on {found.words}",
        item=found,
        page=page,
        notes=panel.note_lines(page.rows),
        history=panel.assignment_lines(history) if page.is_newest else [],
    )


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(notes.READS, notes.WRITES)
def write_note(request: HttpRequest, kind: str, subject_id: str) -> HttpResponse:
    """Write a note on an item."""
    found = _found(request, kind, subject_id)
    form = NoteForm(request.POST or None, subject=found.subject)
    if form.is_valid():
        text, doer = form.cleaned_data["text"], doer_of(request)
        note = notes.write(found, id=form.what, text=text, doer=doer, now=utc_now())
        if note.text == text:
            messages.success(request, "The note is stored.")
            return redirect(found.href)
        form.ask_again()
    title = f"Note on {found.words}"
    return desk_render(request, "desk/items/note.html", title=title, item=found, form=form)


@require_POST
@desk_page(notes.READS, people.WORKS)
def assign(request: HttpRequest, kind: str, subject_id: str) -> HttpResponse:
    """Take an item, give it to somebody, or release it."""
    found, doer = _found(request, kind, subject_id), doer_of(request)
    form = AssignForm(request.POST, me=doer.name)
    if not form.is_valid():
        messages.error(request, "Choose somebody who works on items, then try again.")
        return redirect(found.href)
    to = form.cleaned_data["to"]
    try:
        assigning.assign(found, to=to, seen=form.cleaned_data["seen"], doer=doer, now=utc_now())
    except StaffRefusal as refusal:
        messages.error(request, f"{refusal.detail} {refusal.advice}")
    else:
        done = {doer.name: "It is yours.", NOBODY: "It is nobody's now."}
        messages.success(request, done.get(to, "It is given."))
    return redirect(found.href)


def _found(request: HttpRequest, kind: str, subject_id: str) -> Item:
    """The item, for who may open its page. Raises PermissionDenied, NotFound."""
    subject = Subject(subjects.kind_of(kind), subject_id)
    if not request.user.has_perms(subjects.powers(subject.kind)):
        raise PermissionDenied
    return subjects.found(subject)
