"""Staff come to their first second factor by a link that somebody else sent."""

from __future__ import annotations

import json
import re
from io import StringIO

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from django.core import mail
from django.core.management import CommandError, call_command
from django.urls import reverse

from common.clock import utc_now
from tenants.models import AuditEvent, OutgoingEmail, User
from tenants.services import emails
from tests.builders import browser_of
from tests.dashboard.account.test_second_factor import SECRET, code_of
from tests.dashboard.account.test_second_factor import _patient_clock as _patient_clock

APP, PASSKEY = "/accounts/2fa/totp/activate/", "/accounts/2fa/webauthn/add/"


@pytest.fixture(autouse=True)
def _strict(settings):
    settings.STAFF_SECOND_FACTOR = True


@pytest.fixture
def sam(db):
    return User.objects.create_superuser(email="sam@ballast.example", password="long ago")


@pytest.fixture
def kim(db):
    return User.objects.create_superuser(email="kim@ballast.example")


@pytest.fixture
def colleague(kim):
    """Kim's browser, with a second factor."""
    return browser_of(kim, factor="totp")


def printed(email):
    out = StringIO()
    call_command("enroll_staff", "--json", "--email", email, stdout=out)
    return json.loads(out.getvalue())["link"].removeprefix("http://localhost:8000")


def send(browser, user, reason="started today"):
    path = reverse("admin:tenants_user_send_enrolment_link", args=[user.pk])
    return browser.post(path, {"reason": reason}, follow=True)


class TestThePasswordAlone:
    @pytest.mark.parametrize("path", [APP, PASSKEY])
    def test_sets_up_nothing(self, sam, path):
        browser = browser_of(sam)

        assert browser.get(path)["Location"] == "/accounts/2fa/"
        assert browser.post(path, {"code": code_of()})["Location"] == "/accounts/2fa/"
        assert not Authenticator.objects.exists()

    def test_is_told_what_to_do(self, sam):
        told = browser_of(sam).get("/admin/", follow=True).content.decode()

        assert "Ask somebody else of staff to send you the link" in told

    def test_is_enough_where_development_says_so(self, sam, settings):
        settings.STAFF_SECOND_FACTOR = False

        assert browser_of(sam).get(APP).status_code == 200

    def test_is_enough_for_members(self, acme, dana_of_acme):
        assert browser_of(dana_of_acme).get(APP).status_code == 200


@pytest.fixture
def dana_of_acme(acme):
    return User.objects.create_user(email="dana@acme.example")


class TestTheLink:
    def test_of_a_colleague_leads_to_the_desk(self, sam, colleague):
        send(colleague, sam)
        emails.send_due(now=utc_now())
        (message,) = mail.outbox
        (path,) = re.findall(r"http://\S+(/accounts/2fa/enroll/\S+/)", str(message.body))
        browser = browser_of(sam)

        browser.get(path)
        secret = browser.get(APP).context["form"].secret
        browser.post(APP, {"code": code_of(secret)})

        assert message.to == [sam.email]
        assert browser.get("/admin/").status_code == 200

    def test_that_a_command_prints_does_so_too(self, sam):
        browser = browser_of(sam)

        browser.get(printed(sam.email))

        assert browser.get(APP).status_code == 200

    def test_is_of_no_use_to_somebody_else(self, sam, kim):
        browser = browser_of(kim)

        told = browser.get(printed(sam.email), follow=True).content.decode()

        assert "This link is not yours" in told
        assert browser.get(APP).status_code == 302

    def test_is_of_no_use_without_the_password(self, client, sam):
        assert client.get(printed(sam.email))["Location"].startswith("/accounts/login/?next=")

    def test_is_over_once_a_factor_was_set_up(self, sam):
        path, browser = printed(sam.email), browser_of(sam)
        browser.get(path)
        TOTP.activate(sam, SECRET)
        Authenticator.objects.filter(user=sam).delete()
        Authenticator.objects.create(user=sam, type="recovery_codes", data={})

        assert browser.get(APP).status_code == 302

    def test_is_in_the_audit_log_with_its_reason(self, sam, kim, colleague):
        send(colleague, sam)

        event = AuditEvent.objects.get(action="second_factor.link_sent")
        assert (event.actor_id, event.subject_id) == (kim.pk, sam.pk)
        assert event.details == {"email": sam.email, "reason": "started today"}


class TestNoLink:
    def test_is_sent_to_oneself(self, kim, colleague):
        told = send(colleague, kim).content.decode()

        assert "Somebody else sends you the link." in told
        assert not OutgoingEmail.objects.exists()

    def test_is_sent_to_who_has_a_factor(self, sam, colleague):
        TOTP.activate(sam, SECRET)

        assert "This person has a second factor." in send(colleague, sam).content.decode()
        assert not OutgoingEmail.objects.exists()

    def test_is_sent_to_members(self, dana_of_acme, colleague):
        assert "Only staff need a link" in send(colleague, dana_of_acme).content.decode()
        assert not AuditEvent.objects.filter(action="second_factor.link_sent").exists()

    def test_is_printed_for_nobody(self, db):
        with pytest.raises(CommandError, match=r"Nobody signs in as x@y\.example"):
            printed("x@y.example")
