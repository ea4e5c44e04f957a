"""Who gets into the desk."""

from __future__ import annotations

import pytest
from allauth.mfa.models import Authenticator


@pytest.fixture
def _strict(settings):
    settings.STAFF_SECOND_FACTOR = True


@pytest.mark.usefixtures("_strict")
class TestSecondFactor:
    @pytest.mark.parametrize("path", ["/admin/", "/admin/tenants/tenant/", "/admin/desk/queues/"])
    def test_is_asked_of_staff(self, desk, path):
        response = desk.get(path, follow=True)

        assert response.redirect_chain[-1][0] == "/accounts/2fa/"
        assert "Staff sign in with a second factor" in response.content.decode()

    def test_guards_what_staff_do_too(self, desk, acme):
        desk.post(f"/admin/desk/tenants/{acme.pk}/suspend/", {"reason": "because I can"})

        acme.refresh_from_db()
        assert acme.status == "active"

    @pytest.mark.parametrize("kind", ["totp", "webauthn"])
    def test_once_set_up_opens_the_desk(self, desk, sam, kind):
        Authenticator.objects.create(user=sam, type=kind, data={})

        assert desk.get("/admin/").status_code == 200

    def test_is_more_than_recovery_codes(self, desk, sam):
        Authenticator.objects.create(user=sam, type="recovery_codes", data={})

        assert desk.get("/admin/").status_code == 302

    def test_opens_nothing_to_members(self, dana_browser, dana):
        Authenticator.objects.create(user=dana, type="totp", data={})

        assert dana_browser.get("/admin/").status_code in {302, 403}


def test_is_not_asked_for_where_development_says_so(desk, settings):
    settings.STAFF_SECOND_FACTOR = False

    assert desk.get("/admin/").status_code == 200
