"""The staff desk: what staff may do to tenants, people and keys, and what they never see."""

from __future__ import annotations

import pytest
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.test import Client

from tenants.models import ApiKey, AuditEvent, Membership, OutgoingEmail, Role, Tenant, User
from tests.builders import ApiClient, enter_as, make_key, make_member, make_staff

PASSWORD = "correct horse battery"


@pytest.fixture
def staff(db):
    return make_staff("staff@ballast.example")


@pytest.fixture
def desk(staff):
    client = Client()
    enter_as(client, staff)
    return client


def act(desk, model, action, *rows):
    return desk.post(
        f"/admin/tenants/{model}/", {"action": action, "_selected_action": [r.pk for r in rows]}
    )


def change(desk, person, **fields):
    kept = {"email": person.email, "name": "", "is_active": "on"}
    answer = desk.post(f"/admin/tenants/user/{person.pk}/change/", {**kept, **fields})
    assert answer.status_code == 302


def with_password(person):
    person.set_password(PASSWORD)
    person.save()
    return person


def signed_in(email):
    """A browser that tried to."""
    browser = Client()
    browser.post("/accounts/login/", {"login": email, "password": PASSWORD})
    return browser


def audited(action):
    return AuditEvent.objects.get(action=action)


class TestDoor:
    def test_is_the_common_sign_in(self, client, db):
        response = client.get("/admin/", follow=True)

        assert response.redirect_chain[-1][0] == "/accounts/login/?next=%2Fadmin%2F"

    def test_is_closed_to_members(self, acme):
        member = make_member(acme, email="dana@acme.example", role=Role.OWNER)
        client = Client()
        enter_as(client, member)

        assert client.get("/admin/").status_code in {302, 403}
        assert client.get("/admin/tenants/tenant/").status_code in {302, 403}

    def test_every_list_opens(self, desk):
        for model in admin.site._registry:
            path = f"/admin/{model._meta.label_lower.replace('.', '/')}/?q=nothing"
            assert desk.get(path).status_code == 200, path


class TestTenants:
    def test_are_made_by_the_service(self, desk, staff):
        desk.post("/admin/tenants/tenant/add/", {"name": "Zephyr", "mode": "live"})

        tenant = Tenant.objects.get()
        assert (tenant.name, tenant.mode) == ("Zephyr", "live")
        event = audited("tenant.created")
        assert (event.actor_type, event.actor_id) == ("staff", staff.pk)

    def test_are_neither_changed_nor_deleted(self, desk, acme):
        desk.post(f"/admin/tenants/tenant/{acme.pk}/change/", {"name": "X", "mode": "live"})
        desk.post(f"/admin/tenants/tenant/{acme.pk}/delete/", {"post": "yes"})

        acme.refresh_from_db()
        assert (acme.name, acme.mode) == ("Acme", "sandbox")


class TestKeys:
    def test_are_issued_by_nobody_here(self, desk, acme):
        path = "/admin/tenants/apikey/add/"
        sent = {"tenant": acme.pk, "name": "Mine", "scopes": ["payments:write"]}

        assert desk.get(path).status_code == 403
        assert desk.post(path, sent).status_code == 403

        assert not ApiKey.objects.exists()
        assert not AuditEvent.objects.filter(action="api_key.issued").exists()

    def test_get_their_own_pace(self, desk, acme):
        make_key(acme)
        key = ApiKey.objects.get()

        desk.post(
            f"/admin/tenants/apikey/{key.pk}/change/",
            {"reads_per_second": "500", "writes_per_second": "", "name": "Another name"},
        )

        key.refresh_from_db()
        assert (key.reads_per_second, key.writes_per_second) == (500, None)
        assert key.name == "test"
        assert audited("api_key.pace_set").details["readsPerSecond"] == 500

    def test_are_revoked_at_once(self, desk, acme):
        text = make_key(acme)

        act(desk, "apikey", "revoke", ApiKey.objects.get())

        assert ApiClient(text).get("/api/v1/balance/summary").status_code == 401
        assert audited("api_key.revoked").actor_type == "staff"


class TestPeople:
    def test_are_made_by_invitations_alone(self, desk):
        path = "/admin/tenants/user/add/"
        sent = {"email": "new@acme.example", "password1": PASSWORD, "password2": PASSWORD}

        assert desk.post(path, {**sent, "usable_password": "true"}).status_code == 403

        assert not User.objects.filter(email="new@acme.example").exists()

    def test_get_no_password_from_us(self, desk, acme):
        person = with_password(make_member(acme, email="dana@acme.example"))

        sent = {"password1": "another word for horse", "password2": "another word for horse"}
        answer = desk.post(
            f"/admin/tenants/user/{person.pk}/password/", {**sent, "usable_password": "true"}
        )

        assert answer.status_code in {302, 404}
        person.refresh_from_db()
        assert person.check_password(PASSWORD)

    def test_have_a_page_of_words_with_what_can_be_done_to_them(self, desk, acme):
        person = make_member(acme, email="dana@acme.example")
        UserSession.objects.create(
            user=person, ip="198.51.100.7", session_key="k", user_agent="Firefox/140 (Windows)"
        )

        page = desk.get(f"/admin/tenants/user/{person.pk}/change/").content.decode()

        assert "Open. Does not work for us." in page
        assert f'href="/admin/desk/tenants/{acme.pk}/">Acme' in page
        assert "Firefox on Windows" in page
        assert "198.51.100.7" not in page
        assert "Close the account" in page
        assert "Open the account again" not in page
        assert "Works here no more" not in page

    def test_who_work_here_have_their_roles_on_it(self, desk, staff):
        page = desk.get(f"/admin/tenants/user/{staff.pk}/change/").content.decode()

        assert "Open. Works for us." in page
        assert "Roles here" in page
        assert "Granted at a command line" in page
        assert "Works here no more" in page

    def test_get_a_reset_link_at_their_own_address(self, desk, acme):
        person = make_member(acme, email="dana@acme.example")

        desk.post(
            f"/admin/tenants/user/{person.pk}/send_reset_link/", {"reason": "Called, lost it"}
        )

        mail = OutgoingEmail.objects.get()
        assert (mail.template, mail.to) == ("password_reset", "dana@acme.example")
        assert mail.context == {"user_id": person.pk}
        event = audited("password.link_sent_by_support")
        assert (event.tenant, event.staff_note) == (acme, "Called, lost it")

    def test_who_work_here_are_ended_by_one(self, desk):
        colleague = make_staff("ben@ballast.example")

        desk.post(f"/admin/tenants/user/{colleague.pk}/end_powers/", {"reason": "Left us"})

        colleague.refresh_from_db()
        assert not colleague.is_staff
        assert audited("staff.ended").staff_note == "Left us"

    def test_become_no_staff_by_the_word_of_one(self, desk, acme):
        person = make_member(acme, email="dana@acme.example")

        change(desk, person, is_staff="on", is_superuser="on")

        person.refresh_from_db()
        assert not person.is_staff
        assert not person.is_superuser

    def test_keep_their_address(self, desk, acme):
        person = make_member(acme, email="dana@acme.example")

        change(desk, person, email="mine@ballast.example")

        person.refresh_from_db()
        assert person.email == "dana@acme.example"
        assert not OutgoingEmail.objects.exists()

    def test_are_told_nothing_of_another_name(self, desk, acme):
        person = with_password(make_member(acme, email="dana@acme.example"))
        browser = signed_in("dana@acme.example")

        change(desk, person, name="Dana Lee")

        assert browser.get("/dashboard/").status_code == 200
        told = OutgoingEmail.objects.exclude(context__what="Somebody signed in with a new browser")
        assert not told.exists()

    def test_join_no_tenant_by_the_word_of_one(self, desk, staff, acme):
        path = "/admin/tenants/membership/add/"

        sent = {"tenant": acme.pk, "user": staff.pk, "role": "owner"}
        assert desk.post(path, sent).status_code == 403

        assert not Membership.objects.exists()

    def test_get_no_other_role_by_the_word_of_one(self, desk, acme):
        membership = make_member(
            acme, email="dana@acme.example", role=Role.VIEWER
        ).memberships.get()

        desk.post(f"/admin/tenants/membership/{membership.pk}/change/", {"role": "owner"})

        membership.refresh_from_db()
        assert membership.role == Role.VIEWER


class TestRecords:
    @pytest.mark.parametrize(
        "address", ["/admin/tenants/auditevent/add/", "/admin/api/idempotencyrecord/add/"]
    )
    def test_are_not_written_by_hand(self, desk, address):
        assert desk.get(address).status_code == 403

    def test_of_answers_do_not_show_the_answer(self, desk, acme_api, acme):
        acme_api.post_json(
            "/api/v1/balance/auto-funding/config",
            {"enabled": False},
            **{"Idempotency-Key": "once"},
        )
        desk_list = desk.get("/admin/api/idempotencyrecord/")
        (record,) = desk_list.context["cl"].result_list

        content = desk.get(f"/admin/api/idempotencyrecord/{record.pk}/change/").content.decode()

        assert "once" in content
        assert record.body_token not in content
