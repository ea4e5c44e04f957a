"""Staff actions that need a reason: one page for a single row and for the rows chosen in a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from unfold.admin import ModelAdmin
from unfold.decorators import action
from unfold.widgets import UnfoldAdminTextareaWidget

from common.admin import address_of
from common.errors import DomainError
from common.forms import LinesField

LENGTH_MAX = 200


PageAction = Callable[..., HttpResponse]


class ReasonForm(forms.Form):
    reason = LinesField(max_length=LENGTH_MAX, widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}))


@dataclass(frozen=True, kw_only=True)
class StaffAction:
    """What is about to happen, in the words of the page. `done` follows a row's name in the
    message.

    `act` is called with each row and the reason. If it refuses a row, the page says so. `facts` are
    what to know of a single row before.
    """

    title: str
    consequences: str
    button: str
    done: str
    act: Callable[[Any, str], object]
    facts: Sequence[tuple[str, str]] = ()


def own_page_action(description: str, *, permission: str) -> Callable[[PageAction], PageAction]:
    """Make an action on the page of one row, for those with `has_<permission>_permission`."""
    decorate: Callable[[PageAction], PageAction] = action(
        description=description, permissions=[permission]
    )
    return decorate


def ask_about_chosen(
    admin: ModelAdmin, request: HttpRequest, rows: Sequence[Model], staff_action: StaffAction
) -> HttpResponse | None:
    """The answer to an action of a list: the page that asks for a reason, and None once
    it is done."""
    hidden = [("action", request.POST["action"])]
    hidden += [(ACTION_CHECKBOX_NAME, str(row.pk)) for row in rows]
    return _ask_about_each(admin, request, rows, staff_action, hidden)


def ask_about_one(
    admin: ModelAdmin, request: HttpRequest, row: Model, staff_action: StaffAction
) -> HttpResponse:
    """The answer to an action on a row's own page: the page that asks for a reason, then back to
    the row. Where it is refused, the page says so and keeps the reason that was typed."""
    form = _reason_form(request)
    if form.is_valid():
        try:
            staff_action.act(row, form.cleaned_data["reason"])
        except DomainError as refusal:
            form.add_error("reason", f"{refusal.title}. {refusal.detail}")
        else:
            messages.success(request, f"{row.pk} {staff_action.done}")
            return HttpResponseRedirect(address_of(row))
    return _page(admin, request, [row], staff_action, form, [])


def _ask_about_each(
    admin: ModelAdmin,
    request: HttpRequest,
    rows: Sequence[Model],
    staff_action: StaffAction,
    hidden: list[tuple[str, str]],
) -> HttpResponse | None:
    form = _reason_form(request)
    if form.is_valid():
        for row in rows:
            _act(request, row, staff_action, form.cleaned_data["reason"])
        return None
    return _page(admin, request, rows, staff_action, form, hidden)


def _reason_form(request: HttpRequest) -> ReasonForm:
    return ReasonForm(request.POST if "reason" in request.POST else None)


def _page(
    admin: ModelAdmin,
    request: HttpRequest,
    rows: Sequence[Model],
    staff_action: StaffAction,
    form: ReasonForm,
    hidden: list[tuple[str, str]],
) -> HttpResponse:
    context = {
        **admin.admin_site.each_context(request),
        "title": staff_action.title,
        "staff_action": staff_action,
        "form": form,
        "rows": [(str(row), address_of(row)) for row in rows],
        "hidden": hidden,
    }
    return TemplateResponse(
        request, "admin/reason.html", context, status=422 if form.is_bound else 200
    )


def _act(request: HttpRequest, row: Model, staff_action: StaffAction, reason: str) -> None:
    try:
        staff_action.act(row, reason)
    except DomainError as refusal:
        messages.error(request, f"{row.pk}: {refusal.title}. {refusal.detail}")
    else:
        messages.success(request, f"{row.pk} {staff_action.done}")
