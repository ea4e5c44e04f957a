"""People come to their first second factor by a link: staff by one that somebody else sent."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from io import StringIO

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from django.core import mail
from django.core.management import CommandError, call_command
from django.urls import reverse

from common.clock import utc_now
from tenants import second_factor
from tenants.actors import SYSTEM
from tenants.models import AuditEvent, OutgoingEmail, Role, User
from tenants.services import emails, invitations
from tests.builders import browser_of, make_member, session_of
from tests.dashboard.account.test_second_factor import SECRET, code_of, enrolment_link

OWN_LINK = "/accounts/2fa/enroll/"
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

    def test_is_offered_no_button_that_leads_nowhere(self, sam):
        browser = browser_of(sam)

        for path in ("/accounts/2fa/", "/accounts/2fa/webauthn/"):
            page = browser.get(path, follow=True).content.decode()
            assert f'href="{APP}"' not in page
            assert f'href="{PASSKEY}"' not in page
        assert "Ask somebody else of staff" in page
        assert "Send link for second factor" in page
        assert "enroll_staff" in page

    def test_has_the_buttons_once_the_link_is_open(self, sam):
        browser = browser_of(sam)
        page = browser.get(printed(sam.email), follow=True).content.decode()

        assert f'href="{APP}"' in page
        assert f'href="{PASSKEY}"' in page
        assert "Ask somebody else of staff" not in page

    def test_leads_members_on_to_the_link_that_they_ask_for(self, dana_of_acme):
        page = browser_of(dana_of_acme).get("/accounts/2fa/").content.decode()

        assert f'href="{APP}"' in page
        assert f'href="{PASSKEY}"' in page

    def test_is_enough_where_development_says_so(self, sam, settings):
        settings.STAFF_SECOND_FACTOR = False

        assert browser_of(sam).get("/admin/").status_code == 200

    @pytest.mark.parametrize("path", [APP, PASSKEY])
    def test_sets_up_nothing_for_members(self, dana_of_acme, path):
        thief = browser_of(dana_of_acme)

        assert thief.get(path)["Location"] == OWN_LINK
        assert thief.post(path, {"code": code_of()})["Location"] == OWN_LINK
        assert not Authenticator.objects.exists()


@pytest.fixture
def dana_of_acme(acme):
    return make_member(acme, email="dana@acme.example")


class TestTheOwnLink:
    @pytest.fixture
    def browser(self, dana_of_acme):
        return browser_of(dana_of_acme)

    def set_up(self, browser):
        secret = browser.get(APP).context["form"].secret
        return browser.post(APP, {"code": code_of(secret)})

    def test_is_mailed_and_lets_this_browser_set_one_up(self, browser, dana_of_acme):
        sent = browser.post(OWN_LINK).content.decode()
        opened = browser.get(enrolment_link())

        (message,) = mail.outbox
        assert message.to == ["dana@acme.example"]
        assert "127.0.0.1" in str(message.body)
        assert "Check your inbox" in sent
        assert opened["Location"] == "/accounts/2fa/"
        assert self.set_up(browser)["Location"] == "/accounts/2fa/recovery-codes/"
        assert second_factor.is_set_up(user_id=dana_of_acme.pk)

    def test_is_asked_for_where_the_tenant_requires_a_factor(self, acme, browser):
        acme.requires_second_factor = True
        acme.save(update_fields=["requires_second_factor"])

        browser.post(OWN_LINK)
        browser.get(enrolment_link())
        self.set_up(browser)

        assert browser.get("/dashboard/").status_code == 200

    def test_opens_nothing_in_another_browser(self, browser, dana_of_acme):
        thief = browser_of(dana_of_acme)
        thief.post(OWN_LINK)

        told = browser.get(enrolment_link(), follow=True).content.decode()

        assert "requested in another browser" in told
        assert browser.get(APP)["Location"] == OWN_LINK
        assert thief.get(APP)["Location"] == OWN_LINK

    def test_opens_nothing_for_somebody_else(self, acme, browser):
        browser.post(OWN_LINK)

        eve = browser_of(make_member(acme, email="eve@acme.example"))
        eve.get(enrolment_link())

        assert eve.get(APP)["Location"] == OWN_LINK

    def test_is_of_no_use_to_who_is_not_signed_in(self, client, browser):
        browser.post(OWN_LINK)

        assert client.get(enrolment_link())["Location"].startswith("/accounts/login/?next=")

    def test_works_once(self, browser):
        browser.post(OWN_LINK)
        path = enrolment_link()
        browser.get(path)
        self.set_up(browser)
        browser.post("/accounts/2fa/totp/deactivate/")

        assert browser.get(APP)["Location"] == OWN_LINK
        assert "This link has expired" in browser.get(path, follow=True).content.decode()
        assert browser.get(APP)["Location"] == OWN_LINK

    def test_a_newer_one_ends(self, browser):
        browser.post(OWN_LINK)
        earlier = enrolment_link()
        browser.post(OWN_LINK)

        browser.get(earlier)

        assert browser.get(APP)["Location"] == OWN_LINK

    def test_a_new_password_ends(self, browser, dana_of_acme):
        browser.post(OWN_LINK)
        path = enrolment_link()
        dana_of_acme.set_password("new horse battery")
        dana_of_acme.save(update_fields=["password"])

        browser_again = browser_of(dana_of_acme)
        session = session_of(browser_again)
        session["enrolment_asked"] = session_of(browser)["enrolment_asked"]
        session.save()

        browser_again.get(path)
        assert browser_again.get(APP)["Location"] == OWN_LINK

    def test_ends_after_ten_minutes(self, browser):
        browser.post(OWN_LINK)
        path = enrolment_link()
        self.turn_back(browser, minutes=11)

        told = browser.get(path, follow=True).content.decode()

        assert "This link has expired" in told
        assert browser.get(APP)["Location"] == OWN_LINK

    def test_that_was_opened_serves_for_ten_minutes(self, browser):
        browser.post(OWN_LINK)
        browser.get(enrolment_link())
        assert browser.get(APP).status_code == 200

        self.turn_back(browser, minutes=11)

        assert browser.get(APP)["Location"] == OWN_LINK

    def turn_back(self, browser, *, minutes):
        """As if all this had happened so many minutes ago."""
        session = session_of(browser)
        if "enrolment_asked" in session:
            secret, at = session["enrolment_asked"]
            session["enrolment_asked"] = [secret, at - minutes * 60]
        session["enrolment_until"] = session.get("enrolment_until", 0) - minutes * 60
        session.save()

    def test_is_not_sent_a_quarter_of_an_hour_later(self, browser):
        browser.post(OWN_LINK)

        emails.send_due(now=utc_now() + timedelta(minutes=15, seconds=1))

        assert mail.outbox == []

    def test_is_not_kept_in_the_database_or_in_a_log(self, browser, log):
        browser.post(OWN_LINK)
        (email,) = OutgoingEmail.objects.all()
        path = enrolment_link()
        browser.get(path)

        token = path.split("/")[-2]
        assert token not in str(email.context)
        assert token not in log.text

    def test_is_mailed_five_times_in_an_hour(self, browser):
        for _ in range(5):
            assert browser.post(OWN_LINK).status_code == 200

        refused = browser.post(OWN_LINK)

        assert refused.status_code == 429
        assert b"We sent you several links already" in refused.content
        assert OutgoingEmail.objects.count() == 5

    def test_is_asked_for_by_a_form_and_not_by_opening_the_page(self, browser):
        assert b"Send the link" in browser.get(OWN_LINK).content
        assert not OutgoingEmail.objects.exists()

    def test_is_in_the_audit_log(self, acme, browser, dana_of_acme):
        browser.post(OWN_LINK)

        event = AuditEvent.objects.get(action="second_factor.link_asked_for")
        assert (event.tenant_id, event.actor_id) == (acme.pk, dana_of_acme.pk)

    def test_is_sent_to_nobody_who_has_a_factor(self, browser, dana_of_acme):
        TOTP.activate(dana_of_acme, SECRET)

        assert browser.post(OWN_LINK)["Location"] == "/accounts/2fa/"
        assert not OutgoingEmail.objects.exists()

    def test_is_not_for_staff(self, sam):
        assert browser_of(sam).post(OWN_LINK)["Location"] == "/accounts/2fa/"
        assert not OutgoingEmail.objects.exists()


def test_who_has_just_joined_by_a_mailed_link_needs_no_other(client, acme):
    invitations.invite(
        tenant_id=acme.pk,
        email="nell@acme.example",
        role=Role.MEMBER,
        actor=SYSTEM,
        now=utc_now(),
    )
    emails.send_due(now=utc_now())
    (path,) = set(re.findall(r"http://\S+(/join/\S+/)", str(mail.outbox[-1].body)))

    client.post(path, {"name": "Nell", "password": "correct horse battery"})

    assert client.get(APP).status_code == 200


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

    @pytest.mark.parametrize(("minutes", "status"), [(59, 200), (61, 302)])
    def test_works_for_an_hour(self, sam, minutes, status):
        path = printed(sam.email)

        with time_machine.travel(utc_now() + timedelta(minutes=minutes), tick=False):
            browser = browser_of(sam)
            browser.get(path)
            assert browser.get(APP).status_code == status

    def test_is_of_no_use_to_somebody_else(self, sam, kim):
        browser = browser_of(kim)

        told = browser.get(printed(sam.email), follow=True).content.decode()

        assert "This link belongs to somebody else" in told
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
