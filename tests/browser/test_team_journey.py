"""From an invitation to a second factor, as a person does it; and a passkey."""

from __future__ import annotations

import re
import time

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.core import mail
from playwright.sync_api import expect

from common.clock import utc_now
from tenants import actors
from tenants.models import Invitation, Membership, Role
from tenants.services import emails, invitations
from tests.balance.builders import fund
from tests.dashboard.account.test_second_factor import enrolment_link

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASSWORD = "correct horse battery"


def code_of(secret, *, steps=0):
    return format_hotp_value(hotp_value(secret, int(time.time()) // 30 + steps))


def link_of_the_mail():
    emails.send_due(now=utc_now())
    return "/join/" + str(mail.outbox[-1].body).split("/join/")[1].split()[0]


def open_mailed_link(page, address):
    """The password alone adds no first passkey: this browser has a link mailed."""
    page.goto(address + "/accounts/2fa/")
    page.get_by_role("link", name="Add a passkey").click()
    press(page, "Send the link")
    page.get_by_role("heading", name="Check your inbox").wait_for()
    page.goto(address + enrolment_link())


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def sign_in(page, address):
    page.goto(address + "/accounts/login/")
    page.get_by_label("Email").fill("nell@acme.example")
    page.get_by_label("Password").fill(PASSWORD)
    press(page, "Sign in")


def invite_in_the_browser(visitor):
    visitor.goto("/dashboard/team")
    visitor.page.get_by_role("link", name="Invite").click()
    visitor.page.get_by_label("E-mail address").fill("nell@acme.example")
    visitor.page.get_by_role("radio", name="Member").check()
    press(visitor.page, "Send invitation")
    visitor.page.get_by_text("The invitation to nell@acme.example is sent.").wait_for()


def test_from_invitation_to_recovery_code(visit, dana, acme):
    fund(acme, 12_345)
    owner = visit(dana)
    invite_in_the_browser(owner)

    nell = visit()
    page = nell.page
    page.goto(nell.address + link_of_the_mail())
    page.get_by_label("Your name").fill("Nell Noe")
    page.get_by_label("Password").fill(PASSWORD)
    press(page, "Create my account and join")
    page.wait_for_url("**/dashboard/")
    expect(page.get_by_text("$123.45").first).to_be_visible()
    assert Membership.objects.get(user__email="nell@acme.example").role == Role.MEMBER

    page.get_by_role("link", name="Account", exact=True).click()
    page.get_by_role("navigation").get_by_role("link", name="Security").click()
    page.get_by_role("link", name="Set up").click()
    page.get_by_label("Code that the app shows now").wait_for()
    secret = re.findall(r"\b[A-Z2-7]{32}\b", page.content())[0]
    page.get_by_label("Code that the app shows now").fill(code_of(secret))
    press(page, "Turn on")
    page.wait_for_url("**/recovery-codes/")
    codes = page.locator(".codes li").all_inner_texts()
    assert len(codes) == 10

    page.context.clear_cookies()
    sign_in(page, nell.address)
    page.wait_for_url("**/authenticate/")
    page.get_by_label("Code").fill(code_of(secret, steps=1))
    press(page, "Sign in")
    page.wait_for_url("**/dashboard/")

    page.context.clear_cookies()
    sign_in(page, nell.address)
    page.get_by_label("Code").fill(codes[0])
    press(page, "Sign in")
    page.wait_for_url("**/dashboard/")

    owner.goto("/dashboard/team")
    expect(owner.page.locator(".badge", has_text="Second factor")).to_be_visible()
    assert nell.complaints == owner.complaints == []


class TestPasskeys:
    @pytest.fixture
    def nell(self, visit, acme, live_server, settings):
        """Signed up, on a machine with a fingerprint reader. WebAuthn knows no IP addresses."""
        settings.MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = True
        invitations.invite(
            tenant_id=acme.pk,
            email="nell@acme.example",
            role=Role.OWNER,
            actor=actors.SYSTEM,
            now=utc_now(),
        )
        invitations.join(
            token=link_of_the_mail().split("/")[2], name="Nell", password=PASSWORD, now=utc_now()
        )
        nell = visit()
        devtools = nell.page.context.new_cdp_session(nell.page)
        devtools.send("WebAuthn.enable")
        options = {
            "protocol": "ctap2",
            "transport": "internal",
            "hasResidentKey": True,
            "hasUserVerification": True,
            "isUserVerified": True,
            "automaticPresenceSimulation": True,
        }
        devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})
        return nell

    def test_are_added_and_open_the_door_without_a_password(self, nell):
        page = nell.page
        sign_in(page, nell.address)
        page.wait_for_url("**/dashboard/")
        open_mailed_link(page, nell.address)
        page.get_by_role("link", name="Add a passkey").click()
        page.get_by_label("Name").fill("Laptop")
        press(page, "Continue")
        page.wait_for_url("**/recovery-codes/")

        page.context.clear_cookies()
        page.goto(nell.address + "/accounts/login/")
        press(page, "Sign in with a passkey")
        page.wait_for_url("**/dashboard/")

        page.goto(nell.address + "/accounts/2fa/")
        expect(page.get_by_text("Laptop").first).to_be_visible()
        expect(page.get_by_text("Signs in without a password")).to_be_visible()
        assert nell.complaints == []

    def test_that_fail_say_so_on_the_page(self, visit):
        visitor = visit()
        visitor.goto("/accounts/login/")
        visitor.page.evaluate(
            "() => { navigator.credentials.get = () => Promise.reject(new Error('refused')) }"
        )

        press(visitor.page, "Sign in with a passkey")

        visitor.page.get_by_text("That did not work, or was canceled.").wait_for()
        assert visitor.complaints == []

    def test_prove_who_acts_and_the_form_goes_on(self, nell, settings):
        page = nell.page
        sign_in(page, nell.address)
        page.wait_for_url("**/dashboard/")
        open_mailed_link(page, nell.address)
        page.get_by_role("link", name="Add a passkey").click()
        page.get_by_label("Name").fill("Laptop")
        press(page, "Continue")
        page.wait_for_url("**/recovery-codes/")
        settings.STEP_UP_MINUTES = 0

        nell.goto("/dashboard/team/invite")
        page.get_by_label("E-mail address").fill("lou@acme.example")
        page.get_by_role("radio", name="Member").check()
        press(page, "Send invitation")
        expect(page.get_by_role("heading", name="Confirm it is you")).to_be_visible()
        press(page, "Use a passkey")

        page.get_by_text("The invitation to lou@acme.example is sent.").wait_for()

    def test_prove_who_acts_once_and_are_removed(self, nell, settings):
        """A second click sends nothing more, and nothing that was typed is lost."""
        page, address = nell.page, nell.address
        sign_in(page, address)
        page.wait_for_url("**/dashboard/")
        open_mailed_link(page, address)
        page.get_by_role("link", name="Add a passkey").click()
        press(page, "Continue")
        page.wait_for_url("**/recovery-codes/")

        settings.STEP_UP_MINUTES = 0  # every proof is too old
        page.goto(address + "/dashboard/team/invite")
        page.get_by_label("E-mail address").fill("max@acme.example")
        page.get_by_role("radio", name="Viewer").check()
        press(page, "Send invitation")
        page.get_by_role("heading", name="Confirm it is you").wait_for()
        page.get_by_role("button", name="Use a passkey").dblclick()
        page.get_by_text("The invitation to max@acme.example is sent.").wait_for()
        assert Invitation.objects.filter(email="max@acme.example").count() == 1
        assert page.get_by_role("alert").count() == 0

        settings.STEP_UP_MINUTES = 10
        page.goto(address + "/accounts/2fa/")
        page.get_by_role("link", name="Remove").first.click()
        press(page, "Remove passkey")
        page.get_by_text("The passkey is removed.").wait_for()
        page.goto(address + "/accounts/2fa/")
        page.get_by_text("Only a password protects this account").wait_for()
        assert not Authenticator.objects.filter(type="webauthn").exists()
