"""Instant payments: the list, one of them message by message, and messages with a fault."""

from __future__ import annotations

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common import crypto
from common.clock import utc_now
from dashboard.shell import pace
from desk import attempts, doers
from desk.access import desk_page, desk_render, doer_of
from desk.columns import columns_of
from desk.forms import ReasonForm
from desk.instant import acts, lists, page, words
from desk.instant.lists import Filters
from networks.instant.models import Message
from networks.instant.states import ConversationKind, ConversationStatus

SEE = "instant.view_conversation"
SEE_MESSAGES = "instant.view_message"
_CLOSED = "It does not open with the keys that this installation has."


class ResolveForm(ReasonForm):
    """`seen` is why a person had to look when the page was made."""

    seen = forms.CharField(max_length=32, widget=forms.HiddenInput)


@require_safe
@desk_page(SEE)
def payments(request: HttpRequest) -> HttpResponse:
    """All conversations, or what of them is asked for."""
    asked = Filters.of(request.GET)
    found = lists.conversations(asked, before=request.GET.get("before", ""))
    return desk_render(
        request,
        "desk/instant/list.html",
        title="Instant payments",
        found=found,
        asked=asked,
        rails=lists.rails(),
        kinds=ConversationKind.choices,
        statuses=ConversationStatus.choices,
    )


@require_safe
@desk_page(SEE, SEE_MESSAGES)
def conversation(request: HttpRequest, conversation_id: str) -> HttpResponse:
    """One conversation, message by message."""
    shown = page.conversation_page(conversation_id, after=request.GET.get("after", ""))
    return desk_render(
        request,
        "desk/instant/page.html",
        title=str(shown.row.get_kind_display()),
        page=shown,
        columns=columns_of(request, shown.row),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE, acts.RESOLVES, is_fresh=True)
def resolve(request: HttpRequest, conversation_id: str) -> HttpResponse:
    """Say what came of what a person had to look at."""
    row = page.found(conversation_id)
    form = ResolveForm(request.POST or None, initial={"seen": row.review_code})

    def resolved() -> None:
        acts.resolve(
            row=row,
            seen=form.cleaned_data["seen"],
            reason=form.cleaned_data["reason"],
            doer=doer_of(request),
            now=utc_now(),
        )

    if attempts.submits(request, form, resolved, done="Resolved."):
        return redirect("desk:conversation", row.pk)
    return desk_render(
        request,
        "desk/instant/resolve.html",
        title="Resolve",
        what=words.review(row.review_code),
        explained="It is closed and moves nothing. Say what you found out and did.",
        form=form,
        back=redirect("desk:conversation", row.pk).url,
    )


@require_safe
@desk_page(SEE_MESSAGES)
def messages(request: HttpRequest) -> HttpResponse:
    """Messages with a fault: those that nobody has looked at, or all."""
    which = request.GET.get("show", "")
    shown, lines = lists.faulty(which=which, before=request.GET.get("before", ""))
    return desk_render(
        request,
        "desk/instant/messages.html",
        title="Messages with a fault",
        page=shown,
        lines=lines,
        which=which,
    )


@require_safe
@desk_page(SEE_MESSAGES)
def message(request: HttpRequest, message_id: str) -> HttpResponse:
    """One message, without its text."""
    return _message(request, acts.found_message(message_id))


@require_POST
@desk_page(SEE_MESSAGES, limit=pace.FILES)
def read(request: HttpRequest, message_id: str) -> HttpResponse:
    """The text of a message with account numbers masked. The audit log says who read it."""
    row = acts.found_message(message_id)
    try:
        text = acts.read(row=row, doer=doer_of(request), now=utc_now())
    except crypto.Undecryptable:
        text = _CLOSED
    return _message(request, row, text=text)


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE_MESSAGES, *acts.REVEALS, is_fresh=True, limit=pace.FILES)
def reveal(request: HttpRequest, message_id: str) -> HttpResponse:
    """Ask why; then show the message as it is in this one answer and nowhere else."""
    row, form = acts.found_message(message_id), ReasonForm(request.POST or None)
    if not form.is_valid():
        return desk_render(
            request,
            "desk/instant/reveal.html",
            title="Account numbers of a message",
            message=row,
            form=form,
        )
    reason = form.cleaned_data["reason"]
    try:
        text = acts.reveal(row=row, reason=reason, doer=doer_of(request), now=utc_now())
    except crypto.Undecryptable:
        text = _CLOSED
    return _message(request, row, text=text, is_full=True)


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEE_MESSAGES, acts.RESOLVES_MESSAGES, is_fresh=True)
def resolve_message(request: HttpRequest, message_id: str) -> HttpResponse:
    """Say that somebody has looked at a message with a fault."""
    row, form = acts.found_message(message_id), ReasonForm(request.POST or None)

    def resolved() -> None:
        reason = form.cleaned_data["reason"]
        acts.resolve_message(row=row, reason=reason, doer=doer_of(request), now=utc_now())

    if attempts.submits(request, form, resolved, done="Resolved."):
        return redirect("desk:instant_messages")
    return desk_render(
        request,
        "desk/instant/resolve.html",
        title="Resolve",
        what=words.fault(row),
        explained="It is closed, and stays as it came: nothing moves.",
        form=form,
        back=redirect("desk:instant_message", row.pk).url,
    )


def _message(
    request: HttpRequest, row: Message, *, text: str = "", is_full: bool = False
) -> HttpResponse:
    return desk_render(
        request,
        "desk/instant/message.html",
        title=words.name(row),
        line=page.line_of(row),
        resolved_by=doers.names_of([row.resolved_by]).get(row.resolved_by, ""),
        text=text,
        is_full=is_full,
        may_reveal=request.user.has_perms(acts.REVEALS),
    )
