"""The whole interface, judged from the URL configuration."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import URLPattern, get_resolver

from api.views import ApiViewSet
from config import api_v1
from tenants import scopes
from tests.builders import ApiClient, browser_of, make_member


def routes():
    for pattern in api_v1.urlpatterns:
        assert isinstance(pattern, URLPattern)
        view: Any = pattern.callback
        for method, action in view.actions.items():
            yield str(pattern.pattern), method, action, view.cls


ROUTES = list(routes())
IDS = [f"{method} {path}" for path, method, _action, _view in ROUTES]

# Sandbox helpers act on the sandbox's clock and a test delivery sends now: a repeat is a new wish.
NOT_REPEATABLE = ("sandbox/",)


@pytest.mark.parametrize(("path", "method", "action", "view"), ROUTES, ids=IDS)
class TestRoute:
    def test_is_one_of_our_view_sets(self, path, method, action, view):
        assert issubclass(view, ApiViewSet)
        assert not path.endswith("/")

    def test_names_a_known_scope_that_fits_its_method(self, path, method, action, view):
        scope = view.scopes[action]

        assert scope in scopes.ALL
        if method in {"post", "patch", "delete"}:
            assert scope.endswith(":write")

    def test_takes_an_idempotency_key_when_it_writes(self, path, method, action, view):
        if method in {"get", "head"} or path.startswith(NOT_REPEATABLE):
            return
        assert getattr(getattr(view, action), "is_idempotent", False), f"{view}.{action}"

    @pytest.mark.django_db
    def test_is_closed_without_a_key(self, path, method, action, view):
        address = "/api/v1/" + "".join(
            "x" if part.startswith("<") else part for part in _parts(path)
        )

        response = ApiClient().generic(method.upper(), address)

        assert response.status_code == 401
        assert response["WWW-Authenticate"] == "Bearer"


def _parts(path: str) -> list[str]:
    return path.replace("<", "\0<").replace(">", ">\0").split("\0")


def test_every_address_under_api_ends_in_a_problem():
    assert get_resolver().resolve("/api/v1/nothing").func.__name__ == "unknown_path"


@pytest.mark.django_db
class TestDocumentation:
    def test_schema_and_docs_need_no_key(self):
        assert ApiClient().get("/api/schema").status_code == 200
        assert ApiClient().get("/docs/api").status_code == 200

    def test_the_former_address_of_the_reference_leads_to_it(self):
        assert ApiClient().get("/api/docs")["Location"] == "/docs/api"

    @pytest.mark.parametrize("path", ["/api/schema", "/api/docs", "/api/v1/balance/summary"])
    def test_a_browser_that_is_signed_in_gets_what_others_get(self, path, acme):
        signed_in, nobody = (
            browser_of(make_member(acme, email="ann@acme.example")).get(path),
            ApiClient().get(path),
        )

        assert signed_in.status_code == nobody.status_code
        assert signed_in["Content-Type"] == nobody["Content-Type"]
