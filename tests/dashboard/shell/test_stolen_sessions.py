"""Whoever copied the cookie of a session gains nothing when its person proves who they are."""

from __future__ import annotations

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from django.conf import settings
from django.test import Client

from tenants.models import Invitation
from tests.builders import browser_of
from tests.dashboard.account.test_second_factor import PASSWORD, SECRET, code_of
from tests.dashboard.shell.test_step_up import hidden, invite

PAGE = "/dashboard/team/invite"


@pytest.fixture
def owner(dana):
    """Dana's browser, eleven minutes after the sign-in."""
    dana.set_password(PASSWORD)
    dana.save()
    TOTP.activate(dana, SECRET)
    return browser_of(dana, factor="totp", minutes_ago=11)


@pytest.fixture
def thief(owner):
    """Another browser with a copy of that session's cookie."""
    return copied(owner, settings.SESSION_COOKIE_NAME)


def copied(browser, *names):
    copy = Client()
    for name in names:
        copy.cookies[name] = browser.cookies[name].value
    return copy


def prove(browser, acme, **fields):
    asked = browser.post(PAGE, invite(acme))
    return browser.post(PAGE, {**hidden(asked), "proof-code": code_of(), **fields})


class TestTheThief:
    def test_is_asked_although_the_owner_has_proven(self, acme, owner, thief):
        prove(owner, acme)
        assert Invitation.objects.count() == 1

        stolen = thief.post(PAGE, invite(acme, email="thief@else.example"))

        assert b"Confirm it is you" in stolen.content
        assert Invitation.objects.count() == 1

    def test_is_asked_whatever_token_is_made_up(self, acme, owner, thief):
        prove(owner, acme)

        for token in ("", "x", "a" * 43):
            made_up = invite(acme, email="thief@else.example", **{"proof-token": token})
            assert thief.post(PAGE, made_up).status_code == 403
        assert Invitation.objects.count() == 1

    def test_is_asked_before_a_change_of_factors(self, acme, owner, thief):
        prove(owner, acme)

        assert owner.get("/accounts/2fa/recovery-codes/generate/").status_code == 200
        refused = thief.get("/accounts/2fa/recovery-codes/generate/")
        assert refused["Location"].startswith("/accounts/2fa/reauthenticate/")

    def test_gains_nothing_by_the_page_of_accounts_either(self, acme, owner, thief):
        owner.post("/accounts/2fa/reauthenticate/", {"code": code_of()})
        owner.post(PAGE, invite(acme))
        assert Invitation.objects.count() == 1

        stolen = thief.post(PAGE, invite(acme, email="thief@else.example"))

        assert b"Confirm it is you" in stolen.content

    def test_sees_the_token_nowhere(self, acme, owner, thief):
        token = hidden(owner.post(PAGE, invite(acme)))["proof-token"]
        prove(owner, acme, **{"proof-token": token})

        assert token not in str(dict(owner.session.items()))
        assert token not in thief.post(PAGE, invite(acme)).content.decode()


class TestTheOwner:
    def test_is_not_asked_again(self, acme, owner):
        prove(owner, acme)

        owner.post(PAGE, invite(acme, email="max@acme.example"))

        assert Invitation.objects.count() == 2

    def test_may_click_twice(self, acme, owner):
        """The second request left before the first one's cookie arrived."""
        asked = owner.post(PAGE, invite(acme))
        second = copied(owner, settings.SESSION_COOKIE_NAME)
        sent = {**hidden(asked), "proof-code": code_of()}
        owner.post(PAGE, sent)

        again = second.post(PAGE, sent)

        assert b"Confirm it is you" not in again.content
        assert again.status_code != 403
        # The browser followed the second request, and never saw the first one's answer.
        second.post(PAGE, invite(acme, email="max@acme.example"))
        assert Invitation.objects.count() == 2

    def test_has_a_cookie_that_no_script_and_no_other_site_sees(self, acme, owner):
        cookie = prove(owner, acme).cookies[settings.PROOF_COOKIE_NAME]

        assert cookie["httponly"]
        assert cookie["samesite"] == "Strict"

    def test_chooses_no_weak_token(self, acme, owner):
        prove(owner, acme, **{"proof-token": "weak"})

        weak = copied(owner, settings.SESSION_COOKIE_NAME)
        assert weak.post(PAGE, invite(acme, **{"proof-token": "weak"})).status_code == 403
        owner.post(PAGE, invite(acme, email="max@acme.example"))
        assert Invitation.objects.count() == 2
