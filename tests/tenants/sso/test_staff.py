"""Our staff sign in at our own provider, and nobody else's; real requests."""

from __future__ import annotations

import pytest
from django.test import Client

from tenants.models import Role
from tests.builders import browser_of, make_member, make_staff

pytestmark = pytest.mark.django_db

ANN = "ann@ballast.example"
OF_US = {"tenant": "staff", "domains": ("ballast.example",), "id": "us", "name": "Ballast ID"}
US = {"connection": "us"}


@pytest.fixture
def ann():
    return make_staff(ANN)


@pytest.fixture
def connected(connect_acme):
    return connect_acme(**OF_US)


def enters(browser):
    return browser.get("/admin/").status_code == 200


class TestStaff:
    def test_sign_in_with_the_factor_of_the_provider(self, provider, connected, ann, client):
        provider.claims["amr"] = ["pwd", "mfa"]

        answer = provider.sign_in(client, ANN, query="?next=/admin/", **US)

        assert answer["Location"] == "/admin/"
        assert enters(client)

    def test_need_a_factor(self, provider, connected, ann, client, settings):
        settings.STAFF_SECOND_FACTOR = True
        provider.sign_in(client, ANN, **US)

        assert not enters(client)

    def test_are_offered_it_on_the_way_to_the_desk(self, connected, client):
        wanted = client.get("/accounts/login/?next=/admin/").content.decode()
        others = client.get("/accounts/login/?next=/dashboard/").content.decode()

        assert 'href="/accounts/sso/us/?next=%2Fadmin%2F">Sign in with Ballast ID' in wanted
        assert "Ballast ID" not in others

    def test_that_are_nobody_are_not_made(self, provider, connected, client):
        answer = provider.sign_in(client, ANN, **US)

        assert answer.status_code == 403
        assert "Nobody who works for us has this address." in answer.content.decode()

    def test_that_work_for_us_no_more_are_refused(self, provider, connected, client, acme):
        make_member(acme, email=ANN)

        answer = provider.sign_in(client, ANN, **US)

        assert answer.status_code == 403
        assert "You do not work for us." in answer.content.decode()

    def test_who_are_superusers_keep_their_password(self, provider, connected, ann, client):
        ann.is_superuser = True
        ann.save()

        assert provider.sign_in(client, ANN, **US).status_code == 403

    def test_reach_no_tenant_that_they_belong_to(self, provider, connected, ann, acme, client):
        make_member(acme, email=ANN, role=Role.OWNER)
        provider.sign_in(client, ANN, **US)

        assert client.get("/dashboard/")["Location"] == "/admin/"


class TestRolesOfStaff:
    def connect(self, connect_acme, *roles):
        connect_acme(**OF_US, role_claim="groups", roles={role.lower(): role for role in roles})

    def test_that_the_provider_confirms_let_them_in(self, provider, connect_acme, client):
        ann = make_staff(ANN, ["tenants.view_tenant"])
        (role,) = ann.groups.values_list("name", flat=True)
        self.connect(connect_acme, role)
        provider.claims |= {"groups": [role.lower()], "amr": ["mfa"]}

        provider.sign_in(client, ANN, **US)

        assert enters(client)

    def test_that_it_does_not_confirm_keep_them_out(self, provider, connect_acme, ann, client):
        (role,) = ann.groups.values_list("name", flat=True)
        self.connect(connect_acme, role)
        provider.claims["groups"] = ["others"]

        answer = provider.sign_in(client, ANN, **US)

        assert answer.status_code == 403
        assert f"does not confirm your role {role}." in answer.content.decode()
        assert list(ann.groups.values_list("name", flat=True)) == [role]

    def test_are_given_by_no_provider(self, provider, connect_acme, client):
        ann = make_staff(ANN, ["tenants.view_tenant"])
        (role,) = ann.groups.values_list("name", flat=True)
        self.connect(connect_acme, role, "Administrator")
        provider.claims["groups"] = [role.lower(), "administrator"]

        provider.sign_in(client, ANN, **US)

        assert list(ann.groups.values_list("name", flat=True)) == [role]


class TestTheDesk:
    def test_is_closed_to_a_session_of_a_tenants_provider(
        self, provider, connect_acme, acme, client
    ):
        connect_acme(domains=("acme.example",))
        lee = make_member(acme, email="lee@acme.example")
        provider.claims["amr"] = ["mfa"]
        provider.sign_in(client, lee.email)
        make_staff("bea@ballast.example")
        lee.is_staff = True
        lee.save()

        assert client.get("/admin/").status_code == 302
        page = client.get("/admin/login/?next=/admin/")
        assert page.status_code == 403
        assert "does not open the desk" in page.content.decode()

    def test_takes_no_password_where_the_connection_is_required(self, connect_acme, ann):
        connect_acme(**OF_US, required=True)
        browser = browser_of(ann, factor="totp")

        page = browser.get("/admin/login/?next=/admin/")

        assert not enters(browser)
        assert "/accounts/sso/us/?next=%2Fadmin%2F" in page.content.decode()

    def test_takes_the_password_of_a_superuser_then(self, connect_acme, ann):
        connect_acme(**OF_US, required=True)
        ann.is_superuser = True
        ann.save()

        assert enters(browser_of(ann, factor="totp"))


class TestStepUp:
    """Whoever changes something at the desk has proven a moment ago who they are."""

    @pytest.fixture
    def browser(self, provider, connected, ann, client, acme):
        provider.claims |= {"amr": ["mfa"], "auth_time": 1}
        provider.sign_in(client, ANN, **US)
        return client

    def suspend(self, browser, acme):
        return browser.post(f"/admin/desk/tenants/{acme.pk}/suspend/", {"reason": "as they asked"})

    def is_suspended(self, acme):
        acme.refresh_from_db()
        return acme.status == "suspended"

    def test_is_given_at_the_provider(self, provider, browser, acme):
        asked = self.suspend(browser, acme)
        assert "/accounts/sso/us/?again" in asked.content.decode()
        assert not self.is_suspended(acme)

        del provider.claims["auth_time"]
        away = provider.leave(browser, connection="us", query="?again")
        assert "prompt=login" in away
        assert "max_age=0" in away
        assert "it is you" in browser.get(provider.authorize(away, email=ANN)).content.decode()

        self.suspend(browser, acme)
        assert self.is_suspended(acme)

    def test_counts_in_no_browser_that_has_the_session_alone(self, provider, browser, acme):
        del provider.claims["auth_time"]
        copy = Client()
        copy.cookies["sessionid"] = browser.cookies["sessionid"].value
        provider.sign_in(browser, ANN, query="?again", **US)

        self.suspend(copy, acme)

        assert not self.is_suspended(acme)

    @pytest.mark.parametrize("said", [1, None, "now", True])
    def test_needs_the_word_of_the_provider_that_it_asked(self, provider, browser, acme, said):
        provider.claims["auth_time"] = said

        answer = provider.sign_in(browser, ANN, query="?again", **US)

        assert answer.status_code == 403
        self.suspend(browser, acme)
        assert not self.is_suspended(acme)

    def test_is_not_given_by_somebody_else(self, provider, browser, acme):
        del provider.claims["auth_time"]
        make_staff("bea@ballast.example")

        answer = provider.sign_in(browser, "bea@ballast.example", query="?again", **US)

        assert answer.status_code == 403
        assert "as somebody else" in answer.content.decode()
        self.suspend(browser, acme)
        assert not self.is_suspended(acme)

    def test_is_not_for_who_signed_in_with_a_password(self, connected, ann):
        assert browser_of(ann).get("/accounts/sso/us/?again").status_code == 404

    def test_is_the_sign_in_itself_for_a_while(self, provider, browser, acme):
        del provider.claims["auth_time"]
        provider.sign_in(browser, ANN, **US)

        self.suspend(browser, acme)

        assert self.is_suspended(acme)
