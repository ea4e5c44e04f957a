"""The staff desk: what staff may do to tenants, people and keys, and what they never see."""

from __future__ import annotations

import re

import pytest
from allauth.account.models import EmailAddress
from django.contrib import admin
from django.test import Client

from tenants.models import ApiKey, AuditEvent, Membership, OutgoingEmail, Role, Tenant, User
from tests.builders import ApiClient, enter_as, make_key, make_member, make_staff

PASSWORD = "correct horse battery"

ISSUE = {
    "name": "Booking system",
    "scopes": ["balance:read"],
    "expires_at_0": "",
    "expires_at_1": "",
    "allowed_networks": "",
}


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
    def issue(self, desk, acme, **changes):
        return desk.post("/admin/tenants/apikey/add/", {"tenant": acme.pk, **ISSUE, **changes})

    def test_are_shown_once_and_work(self, desk, acme):
        response = self.issue(desk, acme)

        (text,) = re.findall(r"bal_test_\w+", response.content.decode())
        assert "no-store" in response["Cache-Control"]
        assert ApiClient(text).get("/api/v1/balance/summary").status_code == 200
        key = ApiKey.objects.get()
        assert key.scopes == ["balance:read"]
        for address in (f"/admin/tenants/apikey/{key.pk}/change/", "/admin/tenants/apikey/"):
            content = desk.get(address).content.decode()
            assert text not in content
            assert key.digest not in content

    def test_with_a_past_expiry_are_refused_in_words(self, desk, acme):
        response = self.issue(desk, acme, expires_at_0="2020-01-01", expires_at_1="00:00:00")

        assert response.status_code == 302
        assert b"must be in the future" in desk.get(response["Location"]).content
        assert not ApiKey.objects.exists()

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
    def test_are_kept_in_lower_case(self, desk):
        desk.post(
            "/admin/tenants/user/add/",
            {
                "email": "New.Person@Acme.example",
                "usable_password": "true",
                "password1": "correct horse battery",
                "password2": "correct horse battery",
            },
        )

        person = User.objects.get(email="new.person@acme.example")
        assert audited("user.created").subject_id == person.pk

    def test_become_no_staff_by_the_word_of_one(self, desk, acme):
        person = make_member(acme, email="dana@acme.example")

        change(desk, person, is_staff="on", is_superuser="on")

        person.refresh_from_db()
        assert not person.is_staff
        assert not person.is_superuser

    def test_are_told_of_a_new_address_and_signed_out(self, desk, acme):
        person = with_password(make_member(acme, email="dana@acme.example"))
        browser = signed_in("dana@acme.example")
        EmailAddress.objects.create(user=person, email="dana@acme.example", primary=True)
        assert browser.get("/dashboard/").status_code == 200

        change(desk, person, email="Dana.Lee@acme.example")

        assert browser.get("/dashboard/").status_code == 302
        mails = OutgoingEmail.objects.order_by("to").values_list("to", "template")
        assert list(mails) == [
            ("dana.lee@acme.example", "address_changed"),
            ("dana@acme.example", "address_changed"),
        ]
        event = audited("address.set_by_support")
        assert event.tenant_id == acme.pk
        assert event.details == {"before": "dana@acme.example", "email": "dana.lee@acme.example"}
        assert signed_in("dana@acme.example").get("/dashboard/").status_code == 302
        assert signed_in("dana.lee@acme.example").get("/dashboard/").status_code == 200

    def test_are_told_nothing_of_another_name(self, desk, acme):
        person = with_password(make_member(acme, email="dana@acme.example"))
        browser = signed_in("dana@acme.example")

        change(desk, person, name="Dana Lee")

        assert browser.get("/dashboard/").status_code == 200
        assert not OutgoingEmail.objects.exists()

    def test_join_a_tenant_by_the_service(self, desk, acme):
        person = User.objects.create_user(email="lee@acme.example")

        desk.post(
            "/admin/tenants/membership/add/",
            {"tenant": acme.pk, "user": person.pk, "role": "viewer"},
        )

        assert Membership.objects.get().role == Role.VIEWER
        assert audited("member.added").tenant_id == acme.pk

    def test_join_a_tenant_in_front_of_its_owners(self, desk, acme, rival):
        make_member(acme, email="dana@acme.example")
        make_member(acme, email="max@acme.example", role=Role.MEMBER)
        make_member(acme, email="gone@acme.example")
        User.objects.filter(email="gone@acme.example").update(is_active=False)
        make_member(rival, email="other@rival.example")
        person = User.objects.create_user(email="lee@ballast.example")

        desk.post(
            "/admin/tenants/membership/add/",
            {"tenant": acme.pk, "user": person.pk, "role": "owner"},
        )

        mail = OutgoingEmail.objects.get()
        assert (mail.template, mail.to) == ("team_changed_by_support", "dana@acme.example")
        assert mail.context["person"] == "lee@ballast.example"
        assert (mail.context["before"], mail.context["role"]) == ("", "Owner")

    def test_get_another_role_in_front_of_its_owners(self, desk, acme):
        make_member(acme, email="dana@acme.example")
        person = make_member(acme, email="max@acme.example", role=Role.VIEWER)

        path = f"/admin/tenants/membership/{person.memberships.get().pk}/change/"
        desk.post(path, {"role": "owner"})

        mail = OutgoingEmail.objects.get()
        assert (mail.to, mail.context["person"]) == ("dana@acme.example", "max@acme.example")
        assert (mail.context["before"], mail.context["role"]) == ("Viewer", "Owner")

    def test_keep_their_role_without_a_word(self, desk, acme):
        make_member(acme, email="dana@acme.example")
        person = make_member(acme, email="max@acme.example", role=Role.VIEWER)
        told = AuditEvent.objects.count()

        path = f"/admin/tenants/membership/{person.memberships.get().pk}/change/"
        desk.post(path, {"role": "viewer"})

        assert not OutgoingEmail.objects.exists()
        assert AuditEvent.objects.count() == told

    def test_change_their_role(self, desk, acme):
        person = make_member(acme, email="dana@acme.example", role=Role.VIEWER)
        membership = person.memberships.get()

        desk.post(f"/admin/tenants/membership/{membership.pk}/change/", {"role": "owner"})

        membership.refresh_from_db()
        assert membership.role == Role.OWNER


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
