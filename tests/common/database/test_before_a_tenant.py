"""What is looked up before a tenant is known: by functions that return one row, and in no other way
(decision 0197)."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import ProgrammingError, connection, transaction

from common.database import doors
from tenants import actors
from tenants.models import Invitation, Role
from tenants.services import emails, invitations
from tenants.session_store import SessionStore
from tests.builders import NOW

pytestmark = pytest.mark.django_db

FIND_SESSION = "SELECT session_data, expire_date FROM tenants_find_session(%s)"
FIND_INVITATION = "SELECT tenants_find_invitation(%s)"
REFUSED = [
    "SELECT session_data FROM django_session",
    "SELECT * FROM django_session",
    "SELECT session_key FROM django_session WHERE session_data LIKE 'a%'",
    "SELECT session_key FROM django_session ORDER BY session_data",
    "UPDATE django_session SET session_key = left(session_data, 40)",
    "UPDATE django_session SET expire_date = now() RETURNING session_data",
    "DELETE FROM django_session RETURNING *",
    "COPY django_session TO STDOUT",
    "SELECT digest FROM tenants_invitation",
    "SELECT * FROM tenants_invitation",
    "SELECT id FROM tenants_invitation WHERE digest = 'x'",
    "UPDATE tenants_invitation SET email = digest",
    "UPDATE tenants_invitation SET digest = '' RETURNING digest",
]


def rows(statement, *values):
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return cursor.fetchall() if cursor.description else []


def make_session(**held):
    session = SessionStore()
    session.update(held)
    session.create()
    return session


@pytest.fixture
def invited(acme, mailoutbox):
    """Two people with a link each."""
    for email in ("ada@acme.example", "bea@acme.example"):
        invitations.invite(
            tenant_id=acme.pk, email=email, role=Role.MEMBER, actor=actors.SYSTEM, now=NOW
        )
    emails.send_due(now=NOW)
    return {mail.to[0]: mail.body.partition("/join/")[2].partition("/")[0] for mail in mailoutbox}


@pytest.mark.parametrize("statement", REFUSED)
def test_the_products_own_role_reads_nothing_of_it_by_itself(invited, statement):
    make_session(person="ada")
    denied = pytest.raises(ProgrammingError, match="permission denied for table")

    with denied, transaction.atomic():
        rows(statement)


class TestASession:
    def test_is_found_by_its_key_alone(self):
        ada, bea = make_session(person="ada"), make_session(person="bea")

        ((held, ends),) = rows(FIND_SESSION, ada.session_key)

        assert ada.decode(held)["person"] == "ada"
        assert bea.decode(held) == {}
        assert ends == Session.objects.values_list("expire_date", flat=True).get(pk=ada.session_key)

    @pytest.mark.parametrize("key", ["", "%", "_" * 40, "0" * 40, None])
    def test_is_not_found_by_any_other(self, key):
        make_session(person="ada")

        assert rows(FIND_SESSION, key) == [(None, None)]

    def test_is_no_matter_of_the_api(self, acme):
        key = make_session(person="ada").session_key
        refused_by_the_wall(acme, FIND_SESSION, key)


class TestAnInvitation:
    def test_is_found_by_its_link_alone(self, invited):
        found = invitations.find(token=invited["ada@acme.example"], now=NOW)

        assert found.email == "ada@acme.example"
        assert rows(FIND_INVITATION, invitations._digest(invited["ada@acme.example"])) == [
            (found.pk,)
        ]

    @pytest.mark.parametrize("digest", ["", "%", "0" * 64, None])
    def test_is_not_found_by_any_other(self, invited, acme, digest):
        invitations.invite(
            tenant_id=acme.pk,
            email="not-mailed@acme.example",
            role=Role.MEMBER,
            actor=actors.SYSTEM,
            now=NOW,
        )

        assert rows(FIND_INVITATION, digest) == [(None,)]

    def test_is_found_by_one_statement(self, invited, django_assert_num_queries):
        with django_assert_num_queries(1):
            found = invitations.find(token=invited["bea@acme.example"], now=NOW)
            assert found.tenant.name == "Acme"

    def test_is_no_matter_of_the_api(self, acme, invited):
        digest = invitations._digest(invited["ada@acme.example"])
        refused_by_the_wall(acme, FIND_INVITATION, digest)

    def test_brings_no_digest_along(self, invited):
        assert {row.get_deferred_fields() == {"digest"} for row in Invitation.objects.all()} == {
            True
        }


def refused_by_the_wall(tenant, statement, value):
    denied = pytest.raises(ProgrammingError, match="permission denied for function")
    with doors.of_api(only_reads=False):
        doors.see(tenant.pk)
        assert rows("SELECT current_user") == [(settings.DATABASE_API["USER"],)]
        with denied, transaction.atomic():
            rows(statement, value)
