"""Wrong passwords and codes keep the guesser out and not the person; what a password may not be."""

from __future__ import annotations

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.auth.password_validation import validate_password
from django.core import mail
from django.core.exceptions import ValidationError
from django.test import Client

from common.clock import utc_now
from tenants.services import emails
from tests.dashboard.account.test_second_factor import SECRET, code_of
from tests.dashboard.account.test_sign_in import PASSWORD, sign_in
from tests.dashboard.account.test_sign_in import lee as lee

TOO_MANY = b"Too many wrong passwords or codes"


def browser_at(address):
    return Client(REMOTE_ADDR=address)


def guess(times, *, at="198.51.100.7", email="lee@acme.example"):
    client = browser_at(at)
    for _ in range(times):
        response = sign_in(client, password="wrong", email=email)
    return response


class TestFiveWrongPasswords:
    def test_stop_the_address_they_come_from(self, lee):
        guess(5)

        assert TOO_MANY in guess(1).content

    def test_stop_nobody_at_another_address(self, lee):
        guess(5)

        response = sign_in(browser_at("203.0.113.9"))

        assert response["Location"] == "/dashboard/"

    def test_at_the_same_address_do_not_stop_a_browser_that_is_known(self, lee):
        known = browser_at("198.51.100.7")
        sign_in(known)
        known.post("/accounts/logout/")
        guess(5)

        assert sign_in(known)["Location"] == "/dashboard/"

    def test_in_a_known_browser_stop_it(self, lee):
        known = browser_at("198.51.100.7")
        sign_in(known)
        known.post("/accounts/logout/")
        for _ in range(5):
            sign_in(known, password="wrong")

        assert TOO_MANY in sign_in(known).content

    def test_do_not_become_fewer_by_a_cookie_somebody_made_up(self, lee):
        thief = browser_at("198.51.100.7")
        for count in range(5):
            thief.cookies["device"] = f"made-up-{count}"
            sign_in(thief, password="wrong")

        assert TOO_MANY in sign_in(thief).content


class TestGuessesFromEverywhere:
    @pytest.fixture
    def _hundred(self, lee):
        for number in range(25):
            guess(4, at=f"198.51.100.{number}")

    @pytest.mark.usefixtures("_hundred")
    def test_are_bounded(self):
        assert TOO_MANY in guess(1, at="203.0.113.9").content
        assert TOO_MANY in sign_in(browser_at("203.0.113.9")).content

    def test_do_not_stop_a_browser_that_is_known(self, lee, request):
        known = browser_at("203.0.113.9")
        sign_in(known)
        known.post("/accounts/logout/")
        request.getfixturevalue("_hundred")

        assert sign_in(known)["Location"] == "/dashboard/"

    @pytest.mark.usefixtures("_hundred")
    def test_count_for_one_account_only(self, lee):
        unknown = guess(1, at="203.0.113.9", email="ravi@rival.example")

        assert TOO_MANY not in unknown.content

    def test_do_not_count_what_was_right(self, lee):
        for number in range(30):
            for _ in range(4):
                sign_in(browser_at(f"198.51.100.{number}"))

        assert sign_in(browser_at("203.0.113.9"))["Location"] == "/dashboard/"


class TestWrongCodes:
    """Of somebody who knows the password: they do not keep the right person out."""

    @pytest.fixture
    def known(self, lee):
        """A browser in which lee signed in, before there was an app."""
        known = browser_at("203.0.113.9")
        sign_in(known)
        known.post("/accounts/logout/")
        TOTP.activate(lee, SECRET)
        return known

    def guess(self, times, *, at="198.51.100.7"):
        client = browser_at(at)
        sign_in(client)
        for _ in range(times):
            response = self.type(client, "000000")
        return response

    def type(self, client, code):
        return client.post("/accounts/2fa/authenticate/", {"code": code})

    def enter(self, client):
        sign_in(client)
        return self.type(client, code_of())

    def test_stop_the_address_they_come_from(self, known):
        self.guess(5)

        assert TOO_MANY in self.enter(browser_at("198.51.100.7")).content

    def test_do_not_stop_the_person_elsewhere(self, known):
        self.guess(5)

        assert self.enter(known)["Location"] == "/dashboard/"

    def test_do_not_stop_a_known_browser_at_the_same_address(self, known):
        self.guess(5, at="203.0.113.9")

        assert self.enter(known)["Location"] == "/dashboard/"

    def test_do_not_stop_the_person_at_another_address(self, known):
        self.guess(5)

        assert self.enter(browser_at("192.0.2.4"))["Location"] == "/dashboard/"

    def test_in_a_known_browser_stop_it(self, known):
        sign_in(known)
        for _ in range(5):
            self.type(known, "000000")

        assert TOO_MANY in self.type(known, code_of()).content

    def test_from_everywhere_are_bounded_to_fifty_a_day(self, known):
        for number in range(10):
            assert TOO_MANY not in self.guess(5, at=f"198.51.100.{number}").content

        assert TOO_MANY in self.guess(1, at="192.0.2.4").content
        assert TOO_MANY in self.enter(browser_at("192.0.2.5")).content
        assert self.enter(known)["Location"] == "/dashboard/"

    def test_that_are_refused_at_one_address_do_not_use_up_what_all_share(self, known):
        thief = browser_at("198.51.100.7")
        sign_in(thief)
        for _ in range(60):
            self.type(thief, "000000")

        assert self.enter(browser_at("192.0.2.4"))["Location"] == "/dashboard/"

    def test_when_proving_who_acts_count_for_that_browser(self, known):
        self.enter(known)
        for _ in range(5):
            known.post("/accounts/2fa/reauthenticate/", {"code": "000000"})

        refused = known.post("/accounts/2fa/reauthenticate/", {"code": code_of(steps=1)})

        assert TOO_MANY in refused.content


class TestANewBrowser:
    def told(self):
        emails.send_due(now=utc_now())
        return [message for message in mail.outbox if "new browser" in message.subject]

    def test_is_mailed_with_its_name_and_address(self, lee):
        client = Client(
            REMOTE_ADDR="203.0.113.9",
            headers={"User-Agent": "Mozilla/5.0 (Windows NT 10.0) Firefox/140.0"},
        )

        sign_in(client)

        (message,) = self.told()
        assert message.to == ["lee@acme.example"]
        assert "203.0.113.9, Firefox on Windows" in str(message.body)

    def test_is_mailed_once(self, client, lee):
        sign_in(client)
        client.post("/accounts/logout/")
        sign_in(client)

        assert len(self.told()) == 1

    def test_of_somebody_else_is_not_known_to_this_person(self, client, lee, ravi):
        sign_in(client)
        client.post("/accounts/logout/")
        ravi.set_password(PASSWORD)
        ravi.save()

        sign_in(client, email=ravi.email)

        assert [message.to for message in self.told()] == [[lee.email], [ravi.email]]

    def test_is_not_mailed_for_a_wrong_password(self, client, lee):
        sign_in(client, password="wrong")

        assert self.told() == []


class TestPasswords:
    @pytest.mark.parametrize(
        "password",
        [
            "qwerty123456",  # on Django's list
            "Password12345!",
            "2026-sunshine-2026",
            "aaaaaaaaaaaaaa",
            "abcabcabcabcabc",
            "tulip-tulip-tulip",
            "abababababab",
            "123456789012345",
            "abcdefghijklmn",
            "zyxwvutsrqpon",
            "poiuytrewqasdf",
            "ballast-ballast1",
            "Ballast2026!!",
            "acme-2026-acme-1",
            "lee@acme.example",
            "acmeexample2026",
        ],
    )
    def test_that_somebody_guesses_are_refused(self, lee, password):
        with pytest.raises(ValidationError):
            validate_password(password, user=lee)

    @pytest.mark.parametrize(
        "password",
        [
            PASSWORD,
            "new horse battery",
            "7h3-k#9vQ!x2-pl",
            "the ballast of seventeen ships",
            "Tr0ub4dor&3-zebra",
        ],
    )
    def test_that_nobody_guesses_are_taken(self, lee, password):
        validate_password(password, user=lee)

    def test_without_a_person_are_judged_as_well(self, db):
        with pytest.raises(ValidationError, match="more than your name"):
            validate_password("my-ballast-is-x7")
