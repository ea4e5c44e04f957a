"""Who may open a page of the desk, and the frame around it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.template.response import TemplateResponse

from common.errors import NotFound
from dashboard.shell import pace, step_up
from desk import doers
from desk.doers import Doer
from tenants import actors
from tenants.actors import Actor

View = Callable[..., HttpResponseBase]


def desk_page(
    *permissions: str, is_fresh: bool = False, limit: pace.Pace | None = None
) -> Callable[[View], View]:
    """A page for staff who hold all of `permissions`. Strangers sign in first; never cached.

    `is_fresh`: whoever signed in a while ago proves again who they are. Who asks more often than
    `limit` allows is answered 429.
    """

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def permitted(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.has_perms(permissions):
                raise PermissionDenied
            if limit and (seconds := limit.wait(user_id=request.user.pk)):
                return pace.too_many(request, limit=limit, seconds=seconds)
            try:
                return view(request, *args, **kwargs)
            except NotFound as refusal:
                raise Http404 from refusal

        proven = step_up.needs_recent_proof(permitted) if is_fresh else permitted

        @functools.wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            answer: HttpResponseBase = admin.site.admin_view(proven)(request, *args, **kwargs)
            return answer

        return guarded

    return decorate


def desk_render(
    request: HttpRequest, template: str, *, title: str, status: int = 200, **values: Any
) -> HttpResponse:
    """`template` with the desk's navigation around it."""
    context = {**admin.site.each_context(request), "title": title, **values}
    return TemplateResponse(request, template, context, status=status)


def actor_of(request: HttpRequest) -> Actor:
    """The signed-in member of staff."""
    return actors.staff(str(request.user.pk))


def doer_of(request: HttpRequest) -> Doer:
    """The signed-in member of staff, as the rows of networks call them."""
    return doers.person(actor_of(request))
