"""Codes of an app: a step early or late still counts, and each counts once (RFC 6238 § 5.2)."""

from __future__ import annotations

import re

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from django.core.cache import cache
from django.test import Client

from tests.dashboard.account.test_second_factor import SECRET, code_of, confirm, enter
from tests.dashboard.account.test_second_factor import lee as lee


def sign_in_with(code):
    """A new browser that gave the password and this code."""
    browser = Client()
    enter(browser)
    return browser, browser.post("/accounts/2fa/authenticate/", {"code": code})


def is_in(browser):
    return browser.get("/dashboard/").status_code == 200


@pytest.fixture
def _with_app(lee):
    TOTP.activate(lee, SECRET)


@pytest.mark.usefixtures("_with_app")
class TestTheClockOfThePhone:
    @pytest.mark.parametrize("steps", [-1, 0, 1])
    def test_may_be_half_a_minute_off(self, steps):
        browser, _answer = sign_in_with(code_of(steps=steps))

        assert is_in(browser)

    # Three steps off, since the clock may pass into the next step between the two lines.
    @pytest.mark.parametrize("steps", [-3, 3])
    def test_may_be_no_more_than_that_off(self, steps):
        browser, answer = sign_in_with(code_of(steps=steps))

        assert b"Incorrect code" in answer.content
        assert not is_in(browser)


@pytest.mark.usefixtures("_with_app")
class TestACode:
    def test_that_was_used_is_refused_for_as_long_as_it_could_count(self):
        """Nobody remembers it but the database: a cache that forgets lets no code count again."""
        code = code_of(steps=1)
        sign_in_with(code)
        cache.clear()

        browser, answer = sign_in_with(code)

        assert b"Incorrect code" in answer.content
        assert not is_in(browser)

    def test_of_a_step_before_the_last_used_one_is_refused(self):
        sign_in_with(code_of())

        browser, _answer = sign_in_with(code_of(steps=-1))

        assert not is_in(browser)

    def test_of_a_step_after_the_last_used_one_counts(self):
        sign_in_with(code_of())

        browser, _answer = sign_in_with(code_of(steps=1))

        assert is_in(browser)

    def test_may_be_typed_in_two_groups(self):
        code = code_of()

        browser, _answer = sign_in_with(f"{code[:3]} {code[3:]}")

        assert is_in(browser)


def test_the_code_that_set_up_the_app_signs_nobody_in(client, lee):
    enter(client)
    page = confirm(client, "/accounts/2fa/totp/activate/").content.decode()
    secret = re.findall(r"\b[A-Z2-7]{32}\b", page)[0]
    code = code_of(secret)
    client.post("/accounts/2fa/totp/activate/", {"code": code})
    assert Authenticator.objects.filter(user=lee, type="totp").exists()

    browser, _answer = sign_in_with(code)

    assert not is_in(browser)
