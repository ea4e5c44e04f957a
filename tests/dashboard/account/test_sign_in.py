"""Signing in and out, and a forgotten password, as people do it."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.auth.hashers import MD5PasswordHasher, make_password
from django.contrib.sessions.models import Session
from django.core import mail
from django.core.mail import EmailMultiAlternatives
from django.test import Client

from common.clock import utc_now
from config.settings import accounts as accounts_settings
from tenants.actors import SYSTEM
from tenants.models import OutgoingEmail, Role, User
from tenants.services import accounts, emails
from tests.builders import NOW

PASSWORD = "correct horse battery"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
OLDER = "pbkdf2_sha256"


@pytest.fixture
def lee(acme):
    membership = accounts.create_member(
        tenant_id=acme.pk,
        email="lee@acme.example",
        role=Role.MEMBER,
        password=PASSWORD,
        actor=SYSTEM,
        now=NOW,
    )
    return membership.user


def sign_in(client, *, password=PASSWORD, email="lee@acme.example", **extra):
    return client.post("/accounts/login/", {"login": email, "password": password, **extra})


class SigningOut(MD5PasswordHasher):
    """While a password is checked, another tab signs out."""

    def verify(self, password, encoded):
        Session.objects.all().delete()
        return super().verify(password, encoded)


class TestSigningIn:
    def test_leads_to_the_overview(self, client, lee):
        response = sign_in(client)

        assert response["Location"] == "/dashboard/"
        assert client.get("/dashboard/").status_code == 200

    def test_leads_back_to_the_page_asked_for(self, client, lee):
        response = sign_in(client, next="/dashboard/transactions")

        assert response["Location"] == "/dashboard/transactions"

    def test_never_leads_to_another_site(self, client, lee):
        response = sign_in(client, next="https://evil.example/")

        assert response["Location"] == "/dashboard/"

    def test_with_a_wrong_password_says_no_more_than_that(self, client, lee):
        known = sign_in(client, password="wrong").content.decode()
        unknown = sign_in(client, email="nobody@acme.example").content.decode()

        reason = "That e-mail address and password do not match. Check both and try again."
        assert reason in known
        assert reason in unknown

    def test_hashes_an_older_password_anew(self, client, lee, settings):
        settings.PASSWORD_HASHERS = accounts_settings.PASSWORD_HASHERS
        User.objects.filter(pk=lee.pk).update(password=make_password(PASSWORD, hasher=OLDER))

        sign_in(client)

        lee.refresh_from_db()
        assert lee.password.startswith("argon2$argon2id$")
        assert client.get("/dashboard/").status_code == 200

    def test_with_a_wrong_password_leaves_an_older_hash(self, client, lee, settings):
        settings.PASSWORD_HASHERS = accounts_settings.PASSWORD_HASHERS
        older = make_password(PASSWORD, hasher=OLDER)
        User.objects.filter(pk=lee.pk).update(password=older)

        sign_in(client, password="wrong")

        lee.refresh_from_db()
        assert lee.password == older

    def test_stops_a_guesser(self, client, lee):
        for _ in range(5):
            sign_in(client, password="wrong")

        content = sign_in(client).content.decode()

        assert "Too many wrong passwords or codes" in content
        assert client.get("/dashboard/").status_code == 302

    def test_ends_with_signing_out(self, client, lee):
        sign_in(client)

        response = client.post("/accounts/logout/")

        assert response["Location"] == "/accounts/login/"
        assert client.get("/dashboard/").status_code == 302

    def test_that_ended_while_a_form_was_sent_breaks_nothing(self, client, lee, settings):
        sign_in(client)

        settings.PASSWORD_HASHERS = [f"{__name__}.SigningOut"]
        response = client.post("/accounts/reauthenticate/", {"password": PASSWORD})

        assert response.status_code == 400

    def test_is_by_invitation_only(self, client, db):
        response = client.post(
            "/accounts/signup/", {"email": "new@acme.example", "password1": PASSWORD}
        )

        assert b"by invitation" in response.content


class TestAddress:
    def test_is_not_changed_by_its_owner(self, client, lee):
        sign_in(client)

        assert client.get("/accounts/email/").status_code == 404
        assert client.post("/accounts/email/", {"email": "ceo@acme.example"}).status_code == 404


class TestForgottenPassword:
    def ask(self, client, email="lee@acme.example"):
        return client.post("/accounts/password/reset/", {"email": email})

    def link(self):
        (message,) = mail.outbox
        (path,) = re.findall(r"http://\S+(/accounts/\S+)", str(message.body))
        return path

    def test_is_replaced_through_the_link(self, client, lee):
        self.ask(client)
        emails.send_due(now=utc_now())
        form = client.get(self.link(), follow=True)
        address = form.redirect_chain[-1][0]

        done = client.post(
            address, {"password1": "new horse battery", "password2": "new horse battery"}
        )

        assert done.status_code == 302
        assert sign_in(client, password="new horse battery")["Location"] == "/dashboard/"

    def test_the_link_works_once(self, client, lee):
        self.ask(client)
        emails.send_due(now=utc_now())
        address = client.get(self.link(), follow=True).redirect_chain[-1][0]
        client.post(address, {"password1": "new horse battery", "password2": "new horse battery"})

        assert b"no longer works" in client.get(self.link()).content

    def replace(self, client):
        """Ask for the link, open it, and choose another password."""
        self.ask(client)
        emails.send_due(now=utc_now())
        address = client.get(self.link(), follow=True).redirect_chain[-1][0]
        return client.post(
            address, {"password1": "new horse battery", "password2": "new horse battery"}
        )

    def test_keeps_the_second_factor(self, client, lee):
        TOTP.activate(lee, SECRET)

        self.replace(client)
        response = sign_in(client, password="new horse battery")

        assert Authenticator.objects.filter(user=lee, type="totp").exists()
        assert response["Location"] == "/accounts/2fa/authenticate/"
        assert client.get("/dashboard/").status_code == 302

    def test_signs_nobody_in(self, client, lee):
        self.replace(client)

        assert client.get("/dashboard/").status_code == 302

    def test_ends_every_session(self, client, lee):
        elsewhere = Client()
        sign_in(elsewhere)
        assert elsewhere.get("/dashboard/").status_code == 200
        emails.send_due(now=utc_now())
        mail.outbox.clear()  # of the new browser

        self.replace(client)

        assert elsewhere.get("/dashboard/").status_code == 302

    def test_the_link_is_over_after_ten_minutes(self, client, lee):
        self.ask(client)
        sent_at = utc_now()
        emails.send_due(now=sent_at)

        with time_machine.travel(sent_at + timedelta(minutes=9, seconds=55), tick=False):
            opened = client.get(self.link(), follow=True)
        with time_machine.travel(sent_at + timedelta(minutes=10, seconds=5), tick=False):
            late = client.get(self.link(), follow=True)
            typed_late = client.post(
                opened.redirect_chain[-1][0],
                {"password1": "new horse battery", "password2": "new horse battery"},
            )

        assert b"Choose a new password" in opened.content
        assert b"no longer works" in late.content
        assert b"more than ten minutes have passed" in typed_late.content
        lee.refresh_from_db()
        assert lee.check_password(PASSWORD)

    def test_says_that_it_works_for_ten_minutes(self, client, lee):
        asked = client.post("/accounts/password/reset/", {"email": "lee@acme.example"}, follow=True)
        emails.send_due(now=utc_now())

        (message,) = mail.outbox
        assert isinstance(message, EmailMultiAlternatives)
        said = [asked.content.decode(), message.body, message.alternatives[0][0]]
        assert ["ten minutes" in text for text in said] == [True, True, True]
        assert ["hour" in text for text in said] == [False, False, False]

    def test_a_link_replaces_what_is_late_for_who_never_had_a_password(self, client, lee):
        """As staff and owners whom somebody else let in: nobody has to send them another one."""
        lee.set_unusable_password()
        lee.save(update_fields=["password"])

        self.replace(client)

        lee.refresh_from_db()
        assert lee.check_password("new horse battery")

    def test_the_link_is_over_once_the_password_was_changed_otherwise(self, client, lee):
        self.ask(client)
        emails.send_due(now=utc_now())
        lee.set_password("another horse battery")
        lee.save(update_fields=["password"])

        assert b"no longer works" in client.get(self.link()).content

    def test_the_link_is_made_of_our_own_address(self, client, lee, settings):
        settings.BASE_URL = "https://ballast.example"
        self.ask(client)

        emails.send_due(now=utc_now())

        assert "https://ballast.example/accounts/password/reset/key/usr_" in mail.outbox[0].body

    def test_the_link_is_not_kept_in_the_database(self, client, lee):
        self.ask(client)

        assert OutgoingEmail.objects.get().context == {"user_id": lee.pk}

    def test_the_link_reaches_no_log(self, client, lee, log):
        self.ask(client)
        emails.send_due(now=utc_now())
        client.get(self.link(), follow=True)

        assert "/password/reset/key/[redacted]" in log.text
        assert self.link().split("/")[-2] not in log.text

    def test_nothing_is_sent_an_hour_later(self, client, lee):
        self.ask(client)

        emails.send_due(now=utc_now() + timedelta(hours=1, seconds=1))

        assert mail.outbox == []

    def test_an_unknown_address_gets_the_same_answer_and_no_mail(self, client, lee):
        known = self.ask(client)
        unknown = self.ask(client, "nobody@acme.example")

        assert known["Location"] == unknown["Location"]
        assert OutgoingEmail.objects.count() == 1
