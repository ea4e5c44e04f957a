"""What every answer tells a browser, and what it forgets at signing out."""

from __future__ import annotations

import pytest
from django.test import Client

from config import web_refusals
from config.headers import NO_CONTENT, PERMISSIONS_POLICY
from tests.builders import browser_of, make_member
from tests.config.test_environment import DEVELOPMENT, PRODUCTION

PERSON = "dana@acme.example"


@pytest.fixture
def browser(acme):
    return browser_of(make_member(acme, email=PERSON))


@pytest.mark.parametrize(
    "address",
    [
        *("/healthz", "/readyz", "/", "/accounts/login/", "/docs/", "/nothing", "/favicon.ico"),
        *("/api/v1/nothing", "/api/v1/balance/summary", "/api/nothing", "/admin/", "/dashboard/"),
    ],
)
def test_every_answer_forbids_what_no_page_needs(client, db, address):
    policy = client.get(address)["Permissions-Policy"]

    assert policy == PERMISSIONS_POLICY
    assert "camera=()" in policy
    assert "publickey-credentials" not in policy  # passkeys


@pytest.mark.parametrize(
    "address", ["/api/v1/nothing", "/api/v1/balance/summary", "/api/v1/balance/transactions"]
)
def test_answers_for_programs_show_and_load_nothing(client, acme_api, address):
    for response in (client.get(address), acme_api.get(address)):
        assert "json" in response["Content-Type"]
        assert response["Content-Security-Policy"] == NO_CONTENT


@pytest.mark.parametrize("address", ["/healthz", "/readyz", "/api/nothing"])
def test_other_json_has_a_policy_too(client, db, address):
    response = client.get(address)

    assert "json" in response["Content-Type"]
    assert "default-src 'none'" in response["Content-Security-Policy"]


def test_so_has_what_the_server_itself_refuses():
    head = web_refusals.answer_to(web_refusals.NotOneHost(), "req_1").partition(b"\r\n\r\n")[0]

    assert b"\r\nContent-Security-Policy: default-src 'none'; frame-ancestors 'none'" in head
    assert b"\r\nPermissions-Policy: accelerometer=(), camera=(), " in head


@pytest.mark.parametrize("address", ["/accounts/logout/", "/admin/logout/"])
def test_signing_out_clears_storage_and_no_cookie_of_others(acme, address):
    user = make_member(acme, email=PERSON)
    user.is_staff = True
    user.save()

    response = browser_of(user).post(address)

    assert response["Clear-Site-Data"] == '"storage"'


def test_nothing_else_does(browser):
    for address in ("/dashboard/", "/accounts/login/", "/dashboard/nothing"):
        assert "Clear-Site-Data" not in browser.get(address)
    assert "Clear-Site-Data" not in Client().get("/accounts/login/")


def test_a_session_that_ended_by_itself_does(browser, settings):
    settings.IDLE_MINUTES = 0

    response = browser.get("/dashboard/")

    assert response.status_code == 302
    assert response["Clear-Site-Data"] == '"storage"'


@pytest.mark.parametrize(
    ("given", "header"),
    [
        ({}, ("HTTP_X_FORWARDED_PROTO", "https")),
        ({"TRUSTED_PROXY_COUNT": "0", "SERVED_WITHOUT_PROXY": "True"}, None),
        (DEVELOPMENT, None),
    ],
)
def test_the_proxy_says_how_a_request_came_where_there_is_one(start, given, header):
    settings = start(**PRODUCTION | given)

    assert header == settings.SECURE_PROXY_SSL_HEADER
