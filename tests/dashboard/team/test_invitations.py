"""The page behind the link of an invitation."""

from __future__ import annotations

import pytest
from django.core import mail
from django.test import Client

from common.clock import utc_now
from tenants import actors
from tenants.models import AuditEvent, Membership, Role, User
from tenants.services import emails, invitations
from tests.builders import make_member, make_tenant

PASSWORD = "correct horse battery"


@pytest.fixture
def link(acme):
    invitations.invite(
        tenant_id=acme.pk,
        email="nell@acme.example",
        role=Role.MEMBER,
        actor=actors.SYSTEM,
        now=utc_now(),
    )
    emails.send_due(now=utc_now())
    return "/join/" + str(mail.outbox[-1].body).split("/join/")[1].split()[0]


@pytest.fixture
def nell(rival):
    return make_member(rival, email="nell@acme.example", role=Role.VIEWER)


def sign_up(client, link, **changed):
    return client.post(link, {"name": "Nell Noe", "password": PASSWORD, **changed})


class TestSomebodyNew:
    def test_reads_who_invites_them_where(self, client, link):
        content = client.get(link).content.decode()

        assert "Join Acme" in content
        assert "nell@acme.example" in content

    def test_is_in_with_a_name_and_a_password(self, client, link):
        response = sign_up(client, link)

        assert response["Location"] == "/dashboard/"
        assert b"nell@acme.example" in client.get("/dashboard/").content
        assert AuditEvent.objects.filter(action="sign_in.succeeded").count() == 1

    @pytest.mark.parametrize(
        ("changed", "told"),
        [
            ({"name": ""}, "Enter your name."),
            ({"name": "a\tb"}, "visible characters"),
            ({"password": "short"}, "at least 12 characters"),
            ({"password": "nell@acme.example"}, "too similar"),
        ],
    )
    def test_is_told_what_is_missing(self, client, link, changed, told):
        response = sign_up(client, link, **changed)

        assert response.status_code == 422
        assert told in response.content.decode()
        assert not User.objects.filter(email="nell@acme.example").exists()

    def test_finds_it_closed_the_second_time(self, client, link):
        sign_up(client, link)

        again = sign_up(Client(), link)

        assert again.status_code == 404
        assert b"This invitation is closed" in again.content

    def test_needs_a_csrf_token(self, link):
        assert sign_up(Client(enforce_csrf_checks=True), link).status_code == 403

    def test_changes_nothing_by_looking(self, client, link):
        client.get(link)
        client.head(link)

        assert not User.objects.filter(email="nell@acme.example").exists()


class TestSomebodyWithAnAccount:
    def test_is_sent_to_sign_in_and_back(self, client, link, nell):
        content = client.get(link).content.decode()

        assert f"/accounts/login/?next={link.replace('/', '%2F')}" in content
        assert "Your name" not in content

    def test_cannot_be_taken_over_with_the_link(self, client, link, nell):
        sign_up(client, link)

        nell.refresh_from_db()
        assert not nell.check_password(PASSWORD)
        assert client.get("/dashboard/").status_code == 302

    def test_joins_and_sees_the_new_tenant(self, acme, link, nell, sign_in):
        browser = sign_in(nell)
        assert b"Join Acme?" in browser.get(link).content

        response = browser.post(link)

        assert response["Location"] == "/dashboard/"
        assert b"<title>Overview \xc2\xb7 Acme" in browser.get("/dashboard/").content
        assert Membership.objects.get(user=nell, tenant=acme).role == Role.MEMBER


class TestSomebodyElse:
    def test_is_told_for_whom_it_is(self, acme, link, ravi, sign_in):
        browser = sign_in(ravi)

        for response in (browser.get(link), browser.post(link)):
            assert response.status_code == 403
            assert b"This invitation is for nell@acme.example" in response.content
        assert not Membership.objects.filter(tenant=acme).exists()


class TestTheAddress:
    def test_is_kept_by_nobody(self, client, link):
        response = client.get(link)

        assert response["Cache-Control"] == "no-store"
        assert response["Referrer-Policy"] == "no-referrer"
        assert response["X-Robots-Tag"] == "noindex, nofollow"

    def test_reaches_no_log(self, client, link, nell, log):
        client.get(link)
        client.get(f"/accounts/login/?next={link.replace('/', '%2F')}")
        client.get(f"/accounts/login/?next={link}")

        assert "/join/[redacted]" in log.text
        assert link.split("/")[2] not in log.text

    def test_that_was_never_made_says_no_more_than_a_closed_one(self, client, db):
        response = client.get(f"/join/{'a' * 43}/")

        assert response.status_code == 404
        assert b"This invitation is closed" in response.content

    def test_without_its_last_slash_works(self, client, link):
        assert client.get(link.rstrip("/")).status_code == 200


def test_another_tenant_does_not_get_in(acme, link, nell, sign_in):
    other = make_tenant(name="Zephyr")
    browser = sign_in(nell)
    browser.post(link)

    assert not Membership.objects.filter(tenant=other).exists()
