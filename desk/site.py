"""Django's admin as the desk has it: our sign-in in front of unfold's pages, and our menu."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from allauth.account.decorators import secure_admin_login
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from unfold.sites import UnfoldAdminSite

from dashboard.shell import step_up
from desk import navigation, sign_in
from tenants.sso import reach

View = Callable[..., HttpResponseBase]


class DeskSite(UnfoldAdminSite):  # type: ignore[misc]  # unfold ships no types
    """Staff sign in where everybody does, with the same rate limits, and by a second factor where
    the deployment asks for one. They change their password where everybody does, too."""

    index_title = "Home"

    def has_permission(self, request: HttpRequest) -> bool:
        return (
            super().has_permission(request)
            and reach.is_desk(request)
            and sign_in.has_second_factor(request)
        )

    def login(self, request: HttpRequest, extra_context: object = None) -> HttpResponse:
        """The common sign-in; for who works for us and is signed in, what they lack to enter."""
        if super().has_permission(request) and (missing := sign_in.what_is_missing(request)):
            return missing
        answer: HttpResponse = secure_admin_login(super().login)(request, extra_context)
        return answer

    def password_change(self, request: HttpRequest, extra_context: object = None) -> HttpResponse:
        return redirect("account_change_password")

    def admin_view(self, view: View, cacheable: bool = False) -> View:
        """Whoever changes something has proven a moment ago who they are; not to sign out."""
        proven = view if view == self.logout else step_up.needs_proof(view)
        page: View = super().admin_view(sign_in.of_something(proven), cacheable)
        return page

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """The models of one app. No page shows the list of all apps: the menu is `navigation`'s."""
        return super().get_app_list(request, app_label) if app_label else []

    def get_sidebar_list(self, request: HttpRequest) -> list[navigation.Section]:
        return navigation.sections(request)
