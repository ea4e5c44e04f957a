"""The page about the person who is signed in."""

from __future__ import annotations

import pytest

from tenants.models import AuditEvent, Role, User
from tests.builders import make_member, make_tenant

PATH = "/accounts/profile/"


class TestProfile:
    def test_sends_strangers_to_sign_in(self, client, db):
        assert client.get(PATH)["Location"] == f"/accounts/login/?next={PATH}"

    def test_lists_every_tenant_of_the_person_and_no_other(self, dana, dana_browser, rival):
        make_member(make_tenant(name="Zephyr"), email=dana.email, role=Role.VIEWER)

        content = dana_browser.get(PATH).content.decode()

        assert ("Acme" in content, "Zephyr" in content, "Rival" in content) == (True, True, False)

    def test_opens_another_tenant_with_one_click(self, dana, dana_browser):
        zephyr = make_tenant(name="Zephyr")
        make_member(zephyr, email=dana.email, role=Role.VIEWER)

        dana_browser.post("/dashboard/tenant", {"tenant": zephyr.pk})

        assert b"Zephyr \xc2\xb7 Ballast" in dana_browser.get("/dashboard/").content

    def test_saves_the_name_and_says_so_in_the_log(self, dana, dana_browser):
        response = dana_browser.post(PATH, {"name": " Dana Doe "})

        assert response["Location"] == PATH
        dana.refresh_from_db()
        assert dana.name == "Dana Doe"
        assert AuditEvent.objects.get(action="user.renamed").subject_id == dana.pk

    @pytest.mark.parametrize("name", ["", "a\u202eb"])
    def test_refuses_a_name_nobody_can_read(self, dana, dana_browser, name):
        assert dana_browser.post(PATH, {"name": name}).status_code == 422

        dana.refresh_from_db()
        assert dana.name == ""

    def test_is_there_for_who_belongs_nowhere(self, db, sign_in):
        loner = User.objects.create_user(email="loner@acme.example")

        content = sign_in(loner).get(PATH).content.decode()

        assert "You are not on any team yet." in content
        assert "/dashboard/notifications" not in content
