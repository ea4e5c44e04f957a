"""A form about an account is one transaction: what changed, its line in the trail, and the mail
that tells the person are all there, or none is (decision 0129).

django-allauth commits after each statement, and says some things only after its commit, where a
process that dies takes the line and the mail with it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from allauth import urls
from django.contrib.sessions.backends.base import SessionBase
from django.db import connection, transaction
from django.http import HttpRequest
from django.urls import URLPattern, URLResolver

_READING = {"GET", "HEAD", "OPTIONS"}
_THEIRS = "allauth."

Rest = ParamSpec("Rest")
Answer = TypeVar("Answer")


def in_one_transaction(
    view: Callable[Concatenate[HttpRequest, Rest], Answer],
) -> Callable[..., Answer]:
    """Whatever this view writes for a request that changes something."""

    @wraps(view)
    def run(request: HttpRequest, *args: Rest.args, **kwargs: Rest.kwargs) -> Answer:
        if request.method in _READING:
            return view(request, *args, **kwargs)
        with transaction.atomic():
            response = view(request, *args, **kwargs)
            _say_what_waits_for_the_commit()
            _keep(request.session)
            return response

    return run


def account_pages() -> list[URLPattern | URLResolver]:
    """allauth's addresses, each form of them in one transaction."""
    pages = list(urls.urlpatterns)
    for page in pages:
        _wrap(page)
    return pages


def _wrap(part: URLPattern | URLResolver) -> None:
    if isinstance(part, URLPattern):
        part.callback = in_one_transaction(part.callback)
        return
    for inner in part.url_patterns:
        _wrap(inner)


def _keep(session: SessionBase) -> None:
    """With the rest: else a form that was done, and never answered, could be done again."""
    if session.modified and not session.is_empty():
        session.save()


def _say_what_waits_for_the_commit() -> None:
    """allauth's signals, from which the trail is written, and its mails."""
    waiting = connection.run_on_commit
    theirs = [entry for entry in waiting if entry[1].__module__.startswith(_THEIRS)]
    connection.run_on_commit = [entry for entry in waiting if entry not in theirs]
    for entry in theirs:
        entry[1]()
