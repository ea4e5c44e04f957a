"""What moves money or trust asks once more who acts, and forgets nothing that was typed."""

from __future__ import annotations

import re

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from django.views.debug import SafeExceptionReporterFilter

from tenants.models import ApiKey, AuditEvent, Invitation, Role, User
from tests.builders import browser_of, make_member, make_tenant
from tests.dashboard.account.test_second_factor import PASSWORD, SECRET, code_of, confirm
from tests.passkeys import Passkey

ROOT = "/dashboard"


@pytest.fixture
def late(dana):
    """Dana's browser, eleven minutes after the sign-in with a password."""
    dana.set_password(PASSWORD)
    dana.save()
    return browser_of(dana, minutes_ago=11)


@pytest.fixture
def late_with_app(dana):
    TOTP.activate(dana, SECRET)
    return browser_of(dana, factor="totp", minutes_ago=11)


def invite(acme, **proof):
    return {"acting_for": acme.pk, "email": "lee@acme.example", "role": "member", **proof}


def hidden(response):
    """The fields that the page carries along."""
    found = re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', response.content.decode())
    return {name: value for name, value in found if name != "csrfmiddlewaretoken"}


def carried(response):
    """Those of the form that was sent, without the token that the page adds."""
    return {name: value for name, value in hidden(response).items() if name != "proof-token"}


class TestAnOldProof:
    def test_is_not_enough_to_invite(self, acme, late):
        response = late.post(f"{ROOT}/team/invite", invite(acme))

        assert response.status_code == 403
        assert b"Confirm it is you" in response.content
        assert response["Cache-Control"] == "private, no-store"
        assert not Invitation.objects.exists()

    def test_is_renewed_by_the_password_and_the_form_goes_on(self, acme, late):
        asked = late.post(f"{ROOT}/team/invite", invite(acme))

        late.post(f"{ROOT}/team/invite", {**hidden(asked), "proof-password": PASSWORD})

        invitation = Invitation.objects.get()
        assert (invitation.email, invitation.role) == ("lee@acme.example", "member")

    def test_is_in_no_report_of_an_error(self, acme, late):
        """One with a letter too many is almost the password."""
        mistyped = {"proof-password": f"{PASSWORD}x"}

        answer = late.post(f"{ROOT}/team/invite", {**invite(acme), **mistyped})

        reported = SafeExceptionReporterFilter().get_post_parameters(answer.wsgi_request)
        assert reported["email"] == "lee@acme.example"
        assert reported["proof-password"] == SafeExceptionReporterFilter.cleansed_substitute

    def test_is_asked_for_by_the_passkey_first_where_there_is_no_app(self, acme, dana):
        dana.set_password(PASSWORD)
        dana.save()
        adding, key, path = browser_of(dana), Passkey(), "/accounts/2fa/webauthn/add/"
        asked = confirm(adding, path).context["js_data"]["creation_options"]
        adding.post(path, {"name": "Key", "credential": key.added(asked)})
        browser = browser_of(dana, factor="webauthn", minutes_ago=11)

        page = browser.post(f"{ROOT}/team/invite", invite(acme)).content.decode()

        assert page.index("Use a passkey") < page.index('name="proof-code"')
        assert "button--primary" in page.partition("Use a passkey")[0].rpartition("<button")[2]
        assert "autofocus" not in page

    def test_is_renewed_by_a_code(self, acme, late_with_app):
        asked = late_with_app.post(f"{ROOT}/team/invite", invite(acme))

        late_with_app.post(f"{ROOT}/team/invite", {**hidden(asked), "proof-code": code_of()})

        assert Invitation.objects.get().email == "lee@acme.example"

    def test_is_not_renewed_by_a_wrong_one(self, acme, late, late_with_app):
        wrong = late_with_app.post(f"{ROOT}/team/invite", invite(acme, **{"proof-code": "000000"}))

        assert wrong.status_code == 403
        assert b"Incorrect code" in wrong.content
        assert not Invitation.objects.exists()

    def test_is_not_renewed_by_the_password_of_who_has_a_factor(self, acme, dana, late_with_app):
        dana.set_password(PASSWORD)
        dana.save()
        browser = browser_of(dana, factor="totp", minutes_ago=11)

        proof = {"proof-password": PASSWORD}
        refused = browser.post(f"{ROOT}/team/invite", invite(acme, **proof))

        assert refused.status_code == 403
        assert not Invitation.objects.exists()

    def test_is_asked_for_once_in_a_journey(self, acme, late):
        late.post(f"{ROOT}/team/invite", invite(acme, **{"proof-password": PASSWORD}))

        second = late.post(
            f"{ROOT}/api-keys/new",
            {"acting_for": acme.pk, "name": "server", "scopes": []},
        )

        assert b"Confirm it is you" not in second.content

    def test_is_asked_for_again_after_ten_minutes_or_what_the_deployment_says(
        self, acme, dana, settings
    ):
        settings.STEP_UP_MINUTES = 60
        browser_of(dana, minutes_ago=59).post(f"{ROOT}/team/invite", invite(acme))
        assert Invitation.objects.count() == 1
        settings.STEP_UP_MINUTES = 5

        response = browser_of(dana, minutes_ago=5).post(f"{ROOT}/team/invite", invite(acme))

        assert response.status_code == 403

    def test_opens_every_page_to_look_at(self, late):
        assert late.get(f"{ROOT}/team").status_code == 200
        assert late.get(f"{ROOT}/team/invite").status_code == 200

    def test_of_a_wrong_password_is_told_as_that_in_the_audit_log(self, acme, late):
        late.post(f"{ROOT}/team/invite", invite(acme, **{"proof-password": "wrong"}))

        event = AuditEvent.objects.exclude(action__startswith="tenant.").latest("created_at")
        assert event.action == "proof.failed"
        assert event.details == {"how": "password"}

    def test_says_too_many_wrong_tries_and_not_sign_ins(self, acme, late):
        for _ in range(6):
            wrong = late.post(f"{ROOT}/team/invite", invite(acme, **{"proof-password": "wrong"}))

        assert "Too many wrong passwords or codes" in wrong.content.decode()
        assert "login attempts" not in wrong.content.decode()


class TestAPasswordAlone:
    def test_is_no_proof_of_who_set_up_a_factor_elsewhere(self, acme, dana):
        browser = browser_of(dana)
        TOTP.activate(dana, SECRET)

        response = browser.post(f"{ROOT}/team/invite", invite(acme))

        assert b"proof-code" in response.content
        assert not Invitation.objects.exists()


class TestWhatAsks:
    @pytest.mark.parametrize(
        "path",
        [
            "/api-keys/new",
            "/api-keys/key_1/rotate",
            "/api-keys/key_1/revoke",
            "/api-keys/key_1/auto-funding",
            "/recipients/new",
            "/recipients/rcp_1/rename",
            "/recipients/rcp_1/remove",
            "/payments/approval",
            "/payments/approval/change",
            "/auto-funding/settings",
            "/auto-funding/resume",
            "/team/invite",
            "/team/sign-in-rule",
            "/team/invitations/inv_1/resend",
            "/team/invitations/inv_1/revoke",
            "/team/mem_1/role",
            "/team/mem_1/remove",
            "/approvals/apr_1",
        ],
    )
    def test_is_whatever_moves_trust(self, acme, late, path):
        response = late.post(ROOT + path, {"acting_for": acme.pk})

        assert response.status_code == 403
        assert b"Confirm it is you" in response.content

    def test_is_not_what_only_moves_money_in(self, acme, late):
        response = late.post(f"{ROOT}/topup/", {"acting_for": acme.pk})

        assert b"Confirm it is you" not in response.content


class TestTheDesk:
    @pytest.fixture
    def sam(self, db):
        return User.objects.create_superuser(email="sam@ballast.example", password=PASSWORD)

    def test_asks_before_staff_write(self, acme, sam):
        browser = browser_of(sam, minutes_ago=11)
        path = f"/admin/desk/tenants/{acme.pk}/suspend/"

        asked = browser.post(path, {"reason": "as they asked for"})
        acme.refresh_from_db()
        assert (asked.status_code, acme.status) == (403, "active")

        browser.post(path, {**hidden(asked), "proof-password": PASSWORD})
        acme.refresh_from_db()
        assert acme.status == "suspended"

    def test_asks_in_lists_of_the_admin_too(self, acme, sam):
        browser = browser_of(sam, minutes_ago=11)

        asked = browser.post("/admin/auth/group/add/", {"name": "Friends"})

        assert asked.status_code == 403
        assert carried(asked) == {"name": "Friends"}

    def test_lets_staff_sign_out_and_look(self, sam):
        browser = browser_of(sam, minutes_ago=11)

        assert browser.get("/admin/").status_code == 200
        assert b"Confirm it is you" not in browser.post("/admin/logout/").content


def test_a_form_of_another_tenant_is_refused_before_anybody_is_asked(late):
    other = make_tenant(name="Zephyr")
    make_member(other, email="pat@zephyr.example", role=Role.OWNER)

    response = late.post(f"{ROOT}/team/invite", invite(other))

    assert response.status_code == 409
    assert not ApiKey.objects.exists()
