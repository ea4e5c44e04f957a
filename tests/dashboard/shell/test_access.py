"""Who sees which page of which tenant."""

from __future__ import annotations

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django_htmx.middleware import HtmxMiddleware

from dashboard.shell.access import tenant_page
from tenants.models import Role, User
from tests.balance.builders import fund
from tests.builders import make_member, make_staff, make_tenant

PAGES = (
    "/dashboard/",
    "/dashboard/transactions",
    "/dashboard/statements",
    "/dashboard/funding",
    "/dashboard/auto-funding",
    "/dashboard/approvals",
    "/dashboard/payments",
    "/dashboard/recipients",
    "/dashboard/bank-accounts",
    "/dashboard/webhooks",
    "/dashboard/events",
    "/dashboard/developers",
    "/dashboard/requests",
)


class TestStrangers:
    @pytest.mark.parametrize("path", PAGES)
    def test_are_sent_to_sign_in_and_back(self, client, db, path):
        response = client.get(path)

        assert response.status_code == 302
        assert response["Location"] == f"/accounts/login/?next={path}"

    def test_make_a_live_part_reload_the_whole_page(self, client, db):
        response = client.get("/dashboard/", headers={"HX-Request": "true"})

        assert response.status_code == 200
        assert response["HX-Refresh"] == "true"
        assert response.content == b""

    def test_an_api_key_opens_no_page(self, acme_api):
        assert acme_api.get("/dashboard/").status_code == 302


class TestMembers:
    @pytest.mark.parametrize("role", list(Role))
    def test_of_every_role_may_read(self, acme, sign_in, role):
        browser = sign_in(make_member(acme, email=f"{role}@acme.example", role=role))

        for path in PAGES:
            response = browser.get(path)
            assert response.status_code == 200, path
            assert b"Acme" in response.content, path

    def test_pages_are_never_cached(self, dana_browser):
        for path in PAGES:
            response = dana_browser.get(path)
            assert response["Cache-Control"] == "private, no-store", path
            assert "HX-Request" in response["Vary"], path

    def test_without_a_tenant_are_told_so(self, db, sign_in):
        loner = User.objects.create_user(email="loner@acme.example")

        response = sign_in(loner).get("/dashboard/")

        assert response.status_code == 403
        assert b"loner@acme.example" in response.content

    def test_of_staff_without_a_tenant_go_to_the_staff_desk(self, db, sign_in):
        staff = make_staff("staff@ballast.example")

        response = sign_in(staff).get("/dashboard/")

        assert response["Location"] == "/admin/"


class TestRoles:
    @pytest.mark.parametrize(
        ("role", "may"),
        [(Role.OWNER, True), (Role.MEMBER, True), (Role.APPROVER, False), (Role.VIEWER, False)],
    )
    def test_named_by_a_page_are_the_only_ones_let_in(self, acme, role, may):
        member = make_member(acme, email="member@acme.example", role=role)
        request = self.request_of(member)
        page = tenant_page(Role.OWNER, Role.MEMBER)(lambda _request: HttpResponse("in"))

        if may:
            answer = page(request)
            assert isinstance(answer, HttpResponse)
            assert answer.content == b"in"
        else:
            with pytest.raises(PermissionDenied, match="needs owner or member"):
                page(request)

    @staticmethod
    def request_of(user):
        request = RequestFactory().get("/")
        request.user, request.session = user, SessionStore()
        HtmxMiddleware(lambda _request: HttpResponse())(request)
        return request


class TestSeveralTenants:
    @pytest.fixture
    def browser(self, acme, dana, sign_in):
        other = make_tenant(name="Zephyr")
        make_member(other, email=dana.email, role=Role.VIEWER)
        fund(acme, 12_345)
        fund(other, 67_890)
        self.other = other
        return sign_in(dana)

    def test_the_first_by_name_is_shown(self, browser):
        content = browser.get("/dashboard/").content.decode()

        assert "$123.45" in content
        assert "$678.90" not in content

    def test_one_click_switches(self, browser):
        response = browser.post("/dashboard/tenant", {"tenant": self.other.pk})

        assert response["Location"] == "/dashboard/"
        content = browser.get("/dashboard/").content.decode()
        assert "$678.90" in content
        assert "$123.45" not in content

    def test_a_tenant_of_others_is_refused(self, browser, rival):
        fund(rival, 11_111)

        response = browser.post("/dashboard/tenant", {"tenant": rival.pk})

        assert response.status_code == 403
        assert "$111.11" not in browser.get("/dashboard/").content.decode()

    def test_losing_the_membership_ends_the_view(self, browser, dana):
        browser.post("/dashboard/tenant", {"tenant": self.other.pk})
        dana.memberships.filter(tenant=self.other).delete()

        assert "$678.90" not in browser.get("/dashboard/").content.decode()

    def test_switching_needs_a_csrf_token(self, browser, dana):
        strict = Client(enforce_csrf_checks=True)
        strict.cookies = browser.cookies

        assert strict.post("/dashboard/tenant", {"tenant": self.other.pk}).status_code == 403
