"""The reference's pages: small, strict, and without a dead link."""

from __future__ import annotations

import re

import pytest

from dashboard.developers.docs.reference.reading import reference
from tenants.models import Mode, Role
from tests.builders import browser_of, make_member, make_tenant

BYTES_MAX = 60 * 1024
KNOWN = reference(base_url="http://localhost:8000")
PATHS = ["/docs/api", *(f"/docs/api/{page.slug}" for page in KNOWN.resources)]
LEADS_TO_A_KEY = "/docs/api/payments"


def anchors(client, path):
    return re.findall(r' id="([^"]+)"', client.get(path).content.decode())


@pytest.mark.parametrize("path", PATHS)
class TestPage:
    def test_is_public_and_small(self, client, path):
        answer = client.get(path)

        assert answer.status_code == 200
        assert len(answer.content) <= BYTES_MAX

    def test_keeps_the_strict_policy(self, client, path):
        answer = client.get(path)

        assert "unsafe" not in answer["Content-Security-Policy"]
        content = answer.content.decode()
        assert re.findall(r"<script(?![^>]* src=)|<style| style=| on[a-z]+=", content) == []

    def test_has_each_anchor_once(self, client, path):
        found = anchors(client, path)
        assert len(found) == len(set(found))

    def test_leads_nowhere_that_is_not_there(self, client, db, path):
        content = client.get(path).content.decode()
        targets = set(re.findall(r'href="([^"]*)"', content))

        for address in targets:
            where, _, anchor = address.partition("#")
            if where.startswith("/static/"):
                continue
            answer = client.get(where or path)
            assert answer.status_code in {200, 302}, address
            if anchor:
                assert f'id="{anchor}"' in answer.content.decode(), address

    def test_costs_no_query_of_a_stranger(self, client, db, django_assert_num_queries, path):
        with django_assert_num_queries(0):
            client.get(path)


def required_in(members):
    """How many fields are required, those of objects included."""
    return sum(one.is_required + required_in(one.kind.members) for one in members)


@pytest.mark.parametrize("page", KNOWN.resources, ids=lambda page: page.slug)
def test_marks_each_required_field(client, page):
    content = client.get(f"/docs/api/{page.slug}").content.decode()

    for operation in page.operations:
        section = content.partition(f'<section class="operation" id="{operation.id}"')[2]
        marked = section.partition("</section>")[0].count('<b class="required">')
        body = operation.body.members if operation.body else ()
        assert marked == required_in((*operation.parameters, *body)), operation.id


def test_shows_an_event_for_money_in_and_money_out(client):
    content = client.get("/docs/api/event-bodies").content.decode()
    section = content.partition('id="payment.completed"')[2].partition("</section>")[0]

    for said in ("Money in: a funding transaction.", "Money out: a payment."):
        assert f"<summary>{said}</summary>" in section
    for said in ('"direction": "in"', '"direction": "out"'):
        assert said in section


def test_another_resource_is_not_there(client, db):
    assert client.get("/docs/api/loans").status_code == 404


def test_samples_call_this_product(client, settings):
    settings.BASE_URL = "https://money.example:8443"

    content = client.get("/docs/api/payments").content.decode()

    assert "https://money.example:8443/api/v1/payments" in content
    assert 'baseUrl: "https://money.example:8443"' in content
    assert "localhost" not in content


class TestWayToAKey:
    def said_to(self, user):
        return browser_of(user).get(LEADS_TO_A_KEY)

    def test_a_stranger_signs_in_first(self, client):
        content = client.get(LEADS_TO_A_KEY).content.decode()
        assert "/accounts/login/?next=/dashboard/api-keys/new" in content

    def test_an_owner_makes_one(self, acme):
        answer = self.said_to(make_member(acme, email="o@acme.example", role=Role.OWNER))

        assert '<a href="/dashboard/api-keys/new"' in answer.content.decode()
        assert answer["Cache-Control"] == "private, no-store"

    @pytest.mark.parametrize("role", [Role.MEMBER, Role.APPROVER, Role.VIEWER])
    def test_others_ask_an_owner(self, acme, role):
        content = self.said_to(make_member(acme, email="m@acme.example", role=role)).content
        assert b"Ask an owner of your organization" in content
        assert b"/dashboard/api-keys/new" not in content

    def test_an_owner_of_a_live_tenant_is_not_led_to_a_live_key(self, db):
        live = make_tenant(name="Live", mode=Mode.LIVE)
        content = self.said_to(make_member(live, email="l@live.example", role=Role.OWNER)).content
        assert b"belong to a sandbox organization" in content
        assert b"/dashboard/api-keys/new" not in content
