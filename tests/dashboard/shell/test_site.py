"""The front door, the error pages, and what every page of ours has in common."""

from __future__ import annotations

import pytest
from django.core.exceptions import SuspiciousOperation
from django.test import Client
from django.urls import path

from config.urls import urlpatterns as real_urls


def break_down(_request):
    raise RuntimeError("a bug")


def misread(_request):
    raise SuspiciousOperation


urlpatterns = [path("bug", break_down), path("odd", misread), *real_urls]


class TestFrontDoor:
    def test_leads_to_the_dashboard(self, client):
        assert client.get("/")["Location"] == "/dashboard/"

    def test_the_old_favicon_address_leads_to_the_mark(self, client):
        assert client.get("/favicon.ico")["Location"] == "/static/img/favicon.svg"


class TestErrorPages:
    @pytest.fixture
    def client(self, settings):
        settings.ROOT_URLCONF = "tests.dashboard.shell.test_site"
        return Client(raise_request_exception=False)

    @pytest.mark.parametrize(
        ("address", "status", "sentence"),
        [
            ("/nothing", 404, "There is nothing at this address"),
            ("/bug", 500, "Something broke on our side"),
            ("/odd", 400, "We could not read this request"),
        ],
    )
    def test_speak_to_people(self, client, address, status, sentence):
        response = client.get(address)

        assert response.status_code == status
        assert response["Content-Type"] == "text/html; charset=utf-8"
        assert sentence in response.content.decode()

    def test_a_missing_csrf_token_is_explained(self):
        strict = Client(enforce_csrf_checks=True)

        response = strict.post("/accounts/login/", {"login": "x", "password": "y"})

        assert response.status_code == 403
        assert b"This form has expired" in response.content

    def test_stay_json_under_api(self, client):
        response = client.get("/api/v1/nothing")

        assert response["Content-Type"] == "application/problem+json"


class TestEveryPage:
    @pytest.mark.parametrize("address", ["/accounts/login/", "/docs/", "/nothing"])
    def test_has_a_policy_without_exceptions(self, client, db, address):
        policy = client.get(address)["Content-Security-Policy"]

        assert "unsafe" not in policy
        assert "default-src 'none'" in policy

    @pytest.mark.parametrize("address", ["/accounts/login/", "/docs/", "/docs/errors"])
    def test_carries_no_inline_style_or_script(self, client, db, address):
        content = client.get(address).content.decode()

        assert " style=" not in content
        assert "<style" not in content
        assert "onclick" not in content
