from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, Permission
from django.core.management import call_command

from common.clock import utc_now
from desk.roles import ROLES
from tenants.actors import SYSTEM
from tenants.services import staff
from tests.builders import browser_of, make_member


@pytest.fixture
def hired(db):
    """The browser of somebody with one role."""

    def with_role(role):
        call_command("staff_roles", verbosity=0)
        person = staff.grant(email="lee@ballast.example", roles=[role], actor=SYSTEM, now=utc_now())
        return browser_of(person)

    return with_role


class TestRoles:
    @pytest.mark.parametrize("role", ROLES)
    def test_name_permissions_that_exist(self, db, role):
        for name in ROLES[role]:
            app, code = name.split(".")
            assert Permission.objects.filter(content_type__app_label=app, codename=code).exists(), (
                name
            )

    def test_are_made_again_without_harm(self, db):
        call_command("staff_roles")
        Group.objects.get(name="Viewer").permissions.clear()

        call_command("staff_roles")

        assert Group.objects.get(name="Viewer").permissions.filter(codename="view_tenant").exists()
        assert Group.objects.count() == len(ROLES)

    def test_keep_numbers_and_people_from_viewers(self, hired, acme):
        viewer = hired("Viewer")

        assert viewer.get(f"/admin/desk/tenants/{acme.pk}/").status_code == 200
        for path in (
            f"/admin/desk/tenants/{acme.pk}/suspend/",
            f"/admin/desk/tenants/{acme.pk}/view-as/",
            "/admin/tenants/user/add/",
            "/admin/auth/group/add/",
        ):
            assert viewer.get(path).status_code == 403, path

    def test_let_operators_suspend(self, hired, acme):
        operator = hired("Operator")

        operator.post(f"/admin/desk/tenants/{acme.pk}/suspend/", {"reason": "Returns too high"})

        acme.refresh_from_db()
        assert acme.status == "suspended"
        assert operator.get("/admin/tenants/user/add/").status_code == 403


class TestAdministrators:
    @pytest.fixture
    def lee(self, hired):
        return hired("Administrator")

    def change(self, browser, person, **fields):
        path = f"/admin/tenants/user/{person.pk}/change/"
        return browser.post(path, {"email": person.email, "is_active": "on", **fields})

    def test_manage_the_people_of_tenants(self, lee, acme):
        member = make_member(acme, email="dana@acme.example")

        self.change(lee, member, name="Dana")

        member.refresh_from_db()
        assert member.name == "Dana"

    def test_make_nobody_staff(self, lee, acme):
        member = make_member(acme, email="dana@acme.example")

        self.change(lee, member, is_staff="on", is_superuser="on")

        member.refresh_from_db()
        assert not member.is_staff
        assert not member.is_superuser

    def test_set_no_password(self, lee, acme):
        member = make_member(acme, email="dana@acme.example")
        sent = {"usable_password": "true", "password1": "x7" * 9, "password2": "x7" * 9}

        lee.post(f"/admin/tenants/user/{member.pk}/password/", sent)

        member.refresh_from_db()
        assert not member.has_usable_password()

    def test_do_not_take_over_colleagues(self, lee, sam):
        assert self.change(lee, sam, name="Mine").status_code == 403
        sam.refresh_from_db()
        assert sam.name == ""

    def test_do_not_change_groups(self, lee):
        group = Group.objects.get(name="Administrator")

        assert lee.get(f"/admin/auth/group/{group.pk}/change/").status_code == 403
