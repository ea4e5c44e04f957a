"""Makes each form about an account one transaction: the change, its line in the audit log and the
e-mail that tells the person are all there, or none is (decision 0129).

django-allauth commits after each statement and sends some signals only after that commit, so a
process that dies would lose the line and the e-mail.
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

from tenants import enrolment

_READING = {"GET", "HEAD", "OPTIONS"}
_THEIRS = "allauth."
_NOT_OFFERED = ("3rdparty/", "social/")  # pages about accounts that people connect themselves
_ADDING_FACTORS = {"mfa_activate_totp", "mfa_add_webauthn"}

Asked = TypeVar("Asked", bound=HttpRequest)
Rest = ParamSpec("Rest")
Answer = TypeVar("Answer")


def in_one_transaction(
    view: Callable[Concatenate[Asked, Rest], Answer],
) -> Callable[..., Answer]:
    """Put everything that this view writes for a changing request into one transaction."""

    whole = wholly_in_one_transaction(view)

    @wraps(view)
    def run(request: Asked, *args: Rest.args, **kwargs: Rest.kwargs) -> Answer:
        chosen = view if request.method in _READING else whole
        return chosen(request, *args, **kwargs)

    return run


def wholly_in_one_transaction(
    view: Callable[Concatenate[Asked, Rest], Answer],
) -> Callable[..., Answer]:
    """The same for a view that changes something when it is read: a browser comes back from a
    provider of single sign-on with GET."""

    @wraps(view)
    def run(request: Asked, *args: Rest.args, **kwargs: Rest.kwargs) -> Answer:
        with transaction.atomic():
            response = view(request, *args, **kwargs)
            _say_what_waits_for_the_commit()
            _keep(request.session)
            return response

    return run


def account_pages() -> list[URLPattern | URLResolver]:
    """allauth's URL patterns that we offer, each form of them in one transaction."""
    pages = [page for page in urls.urlpatterns if not str(page.pattern).startswith(_NOT_OFFERED)]
    for page in pages:
        _wrap(page)
    return pages


def _wrap(part: URLPattern | URLResolver) -> None:
    if isinstance(part, URLPattern):
        if part.name in _ADDING_FACTORS:
            part.callback = enrolment.needs_link(part.callback)
        part.callback = in_one_transaction(part.callback)
        return
    for inner in part.url_patterns:
        _wrap(inner)


def _keep(session: SessionBase) -> None:
    """Save the session in the transaction too. Otherwise a form that was processed but not answered
    could be processed again."""
    if session.modified and not session.is_empty():
        session.save()


def _say_what_waits_for_the_commit() -> None:
    """Run now, in the transaction, what allauth put off until after the commit: its signals, from
    which the audit log is written, and its e-mails."""
    waiting = connection.run_on_commit
    theirs = [entry for entry in waiting if entry[1].__module__.startswith(_THEIRS)]
    connection.run_on_commit = [entry for entry in waiting if entry not in theirs]
    for entry in theirs:
        entry[1]()
