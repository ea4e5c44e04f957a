"""Who gets into the desk."""

from __future__ import annotations

import pytest
from allauth.mfa.models import Authenticator

from tests.builders import browser_of


@pytest.fixture
def _strict(settings):
    settings.STAFF_SECOND_FACTOR = True


@pytest.mark.usefixtures("_strict")
class TestSecondFactor:
    @pytest.mark.parametrize("path", ["/admin/", "/admin/tenants/tenant/", "/admin/desk/queues/"])
    def test_is_asked_of_staff(self, desk, path):
        response = desk.get(path, follow=True)

        assert response.redirect_chain[-1][0] == "/accounts/2fa/"
        assert "send you the link for your second factor" in response.content.decode()

    def test_guards_what_staff_do_too(self, desk, acme):
        desk.post(f"/admin/desk/tenants/{acme.pk}/suspend/", {"reason": "because I can"})

        acme.refresh_from_db()
        assert acme.status == "active"

    @pytest.mark.parametrize("kind", ["totp", "webauthn", "recovery_codes"])
    def test_of_this_session_opens_the_desk(self, sam, kind):
        assert browser_of(sam, factor=kind).get("/admin/").status_code == 200

    @pytest.mark.parametrize("kind", ["totp", "webauthn"])
    def test_that_is_set_up_elsewhere_is_asked_for_here(self, desk, sam, kind):
        """A session that began with the password alone waits outside for the person to enroll."""
        assert desk.get("/admin/").status_code == 302
        Authenticator.objects.create(user=sam, type=kind, data={})

        response = desk.get("/admin/login/?next=/admin/")

        assert response["Location"].endswith("/accounts/2fa/reauthenticate/?next=/admin/")
        assert desk.get("/admin/").status_code == 302

    def test_is_more_than_recovery_codes(self, desk, sam):
        Authenticator.objects.create(user=sam, type="recovery_codes", data={})

        assert desk.get("/admin/").status_code == 302

    def test_opens_nothing_to_members(self, dana_browser, dana):
        Authenticator.objects.create(user=dana, type="totp", data={})

        assert dana_browser.get("/admin/").status_code in {302, 403}


def test_what_a_role_does_not_include_leads_back_to_the_desk(desk):
    response = desk.get("/admin/tenants/membership/add/")

    assert response.status_code == 403
    content = response.content.decode()
    assert "Go to the staff desk" in content
    assert "an owner of your organization" not in content


def test_a_password_is_changed_where_everybody_changes_it(desk, sam):
    response = desk.post("/admin/password_change/", {"new_password1": "x"})

    assert response["Location"] == "/accounts/password/change/"


def test_is_not_asked_for_where_development_says_so(desk, settings):
    settings.STAFF_SECOND_FACTOR = False

    assert desk.get("/admin/").status_code == 200
