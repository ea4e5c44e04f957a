"""The inbox of development: what the file e-mail backend wrote. 404 everywhere else."""

from __future__ import annotations

import functools
from collections.abc import Callable

from csp.constants import NONE, SELF, UNSAFE_INLINE
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_safe

from dashboard.dev_inbox import mailbox
from dashboard.dev_inbox.mailbox import Message
from dashboard.shell.content_policy import with_policy

View = Callable[..., HttpResponse]

# An e-mail carries its styles with it; it runs nothing, fetches nothing, and opens links on top.
_MESSAGE_POLICY = {
    "default-src": [NONE],
    "style-src": [UNSAFE_INLINE],
    "frame-ancestors": [SELF],
    "sandbox": ["allow-top-navigation-by-user-activation"],
}


def development_only(view: View) -> View:
    @functools.wraps(view)
    def wrapper(request: HttpRequest, **kwargs: str) -> HttpResponse:
        if not settings.DEV_INBOX:
            raise Http404
        response = view(request, **kwargs)
        response["Cache-Control"] = "no-store"
        return response

    return wrapper


@require_safe
@development_only
def inbox(request: HttpRequest) -> HttpResponse:
    messages = mailbox.messages(settings.EMAIL_FILE_PATH)
    return render(request, "dashboard/dev_inbox/inbox.html", {"messages_found": messages})


@require_safe
@development_only
def message(request: HttpRequest, message_id: str) -> HttpResponse:
    page = render(request, "dashboard/dev_inbox/message.html", {"message": _found(message_id)})
    return with_policy(page, {"frame-src": [SELF]})


@require_safe
@xframe_options_sameorigin
@development_only
def message_html(_request: HttpRequest, message_id: str) -> HttpResponse:
    """The HTML part alone, for the frame; its links open in the whole window."""
    page = HttpResponse('<base target="_top">' + _found(message_id).html)
    return with_policy(page, _MESSAGE_POLICY)


def _found(message_id: str) -> Message:
    found = mailbox.find(settings.EMAIL_FILE_PATH, message_id)
    if found is None:
        raise Http404
    return found
