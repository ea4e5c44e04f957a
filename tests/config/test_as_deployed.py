"""Cookies and headers of answers to browsers, with the settings that production has."""

from __future__ import annotations

import pytest
from django.test import Client, override_settings

from tests.builders import make_member
from tests.config.test_environment import PRODUCTION

PASSWORD = "correct horse battery"
SETTINGS = (
    "SESSION_COOKIE_NAME",
    "SESSION_COOKIE_SECURE",
    "SESSION_COOKIE_HTTPONLY",
    "SESSION_COOKIE_SAMESITE",
    "DEVICE_COOKIE_NAME",
    "CSRF_COOKIE_NAME",
    "CSRF_COOKIE_SECURE",
    "CSRF_COOKIE_HTTPONLY",
    "CSRF_TRUSTED_ORIGINS",
    "SECURE_HSTS_SECONDS",
    "SECURE_HSTS_INCLUDE_SUBDOMAINS",
    "SECURE_HSTS_PRELOAD",
    "SECURE_PROXY_SSL_HEADER",
    "SECURE_REFERRER_POLICY",
    "X_FRAME_OPTIONS",
    "CONTENT_SECURITY_POLICY",
    "BASE_URL",
    "IS_HTTPS",
)


@pytest.fixture
def deployed(start, acme):
    """A browser of a deployment behind one proxy, which ended TLS."""
    production = start(**PRODUCTION)
    deployed = {name: getattr(production, name) for name in SETTINGS}
    dana = make_member(acme, email="dana@acme.example")
    dana.set_password(PASSWORD)
    dana.save(update_fields=["password"])
    with override_settings(**deployed, ALLOWED_HOSTS=["ballast.example"]):
        yield Client(SERVER_NAME="ballast.example", HTTP_X_FORWARDED_PROTO="https")


def sign_in(browser):
    browser.get("/accounts/login/")
    sent = {"login": "dana@acme.example", "password": PASSWORD}
    return browser.post("/accounts/login/", sent)


def test_cookies_belong_to_this_host_and_leave_it_over_tls_alone(deployed):
    """`__Host-` is what browsers refuse for another path, for a domain, or without Secure."""
    assert sign_in(deployed)["Location"] == "/dashboard/"

    given = deployed.cookies
    assert set(given) == {"__Host-sessionid", "__Host-csrftoken", "__Host-device"}
    for cookie in given.values():
        assert (cookie["path"], cookie["domain"]) == ("/", "")
        assert (cookie["secure"], cookie["httponly"]) == (True, True)
        assert cookie["samesite"] in {"Lax", "Strict"}


@pytest.mark.parametrize(
    "address", ["/accounts/login/", "/docs/", "/nothing", "/api/v1/balance/summary", "/admin/"]
)
def test_every_answer_keeps_browsers_at_https_for_a_year(deployed, address):
    said = deployed.get(address)["Strict-Transport-Security"]

    assert said == "max-age=31536000; includeSubDomains; preload"


@pytest.mark.parametrize("address", ["/accounts/login/", "/docs/", "/nothing", "/dashboard/"])
def test_pages_are_in_no_frame_and_load_nothing_of_others(deployed, address):
    sign_in(deployed)
    page = deployed.get(address)

    policy = dict(part.strip().split(" ", 1) for part in page["Content-Security-Policy"].split(";"))
    for closed in ("default-src", "object-src", "base-uri", "frame-ancestors"):
        assert policy[closed] == "'none'"
    for own in ("script-src", "style-src", "connect-src", "form-action"):
        assert policy[own] == "'self'"
    assert page["X-Frame-Options"] == "DENY"
    assert page["X-Content-Type-Options"] == "nosniff"
    assert page["Referrer-Policy"] == "same-origin"


def test_the_desk_runs_no_script_that_a_page_holds(deployed):
    """Its skin evaluates expressions and writes styles (`config/csp.py`)."""
    said = deployed.get("/admin/login/", follow=True)["Content-Security-Policy"]
    policy = dict(part.strip().split(" ", 1) for part in said.split(";"))

    assert "'unsafe-inline'" not in policy["script-src"]
    assert policy["default-src"] == policy["frame-ancestors"] == "'none'"


def test_a_host_that_is_not_ours_gets_nothing(deployed):
    assert deployed.get("/accounts/login/", SERVER_NAME="evil.example").status_code == 400
