"""The API's own login: what it is told with each transaction, and what it cannot be talked into."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.db import DatabaseError, ProgrammingError, connection, transaction

from common.engine import sql
from funding.models import FundingTransaction
from tenants.models import ApiKey, Tenant, User
from tenants.selectors import actor_ids, find_key_holder, names_for_tenants
from tests.balance.builders import balance_of
from tests.builders import NOW, make_key, make_member

pytestmark = pytest.mark.django_db(transaction=True)

WHO = "SELECT session_user, current_user, current_setting('ballast.tenant', true)"
POST = "SELECT balance_post('btx_x', %s, 'credit', 5, 0, 'adjustment', 'adj_x', 'x', now())"


def rows(statement, *values):
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return cursor.fetchall() if cursor.description else []


def visible():
    """Of fundings, by the ORM and by the fast path: whose they are."""
    slow = set(FundingTransaction.objects.values_list("tenant_id", flat=True))
    rows = sql.rows("SELECT tenant_id FROM funding_fundingtransaction", {})
    assert slow == {tenant for (tenant,) in rows}
    return slow


BOTH = pytest.mark.parametrize("only_reads", [True, False])


@BOTH
def test_is_another_login_that_sees_nobody(door, only_reads):
    with door.open(only_reads=only_reads):
        assert rows(WHO)[0][:2] == (settings.DATABASE_API["USER"],) * 2
        assert visible() == set()
        assert not Tenant.objects.exists()


@BOTH
def test_sees_the_tenant_it_is_told(door, acme, rival, only_reads):
    with door.open(only_reads=only_reads):
        door.see(acme.pk)
        assert visible() == {acme.pk}
        door.see(rival.pk)
        assert visible() == {rival.pk}


@BOTH
def test_sees_it_in_transactions_and_between_them(door, acme, only_reads):
    with door.open(only_reads=only_reads):
        door.see(acme.pk)
        assert visible() == {acme.pk}
        with transaction.atomic():
            assert visible() == {acme.pk}
            with transaction.atomic():
                assert visible() == {acme.pk}
        assert visible() == {acme.pk}


@BOTH
def test_reads_piece_by_piece(door, acme, only_reads):
    with door.open(only_reads=only_reads):
        door.see(acme.pk)
        found = list(FundingTransaction.objects.iterator(chunk_size=1))

    assert {row.tenant_id for row in found} == {acme.pk}


@BOTH
def test_goes_on_after_an_error(door, acme, only_reads):
    with door.open(only_reads=only_reads):
        door.see(acme.pk)
        with pytest.raises(DatabaseError):
            rows("SELECT 1/0")
        with pytest.raises(DatabaseError):
            sql.rows("SELECT 1/0", {})
        assert visible() == {acme.pk}


@BOTH
def test_finds_another_connection_after_a_lost_one(door, acme, only_reads):
    with door.open(only_reads=only_reads):
        door.see(acme.pk)
        assert visible() == {acme.pk}
        connection.close()
        assert visible() == {acme.pk}


@BOTH
def test_ends_with_the_request(door, acme, only_reads):
    with door.open(only_reads=only_reads):
        door.see(acme.pk)
        assert visible() == {acme.pk}
    with door.open(only_reads=only_reads):
        assert visible() == set()
        assert rows(WHO)[0][2] in ("", None)


def test_leaves_nothing_with_the_servers_connection(door, acme):
    """A pooler gives it to somebody else after each transaction."""
    with door.open(only_reads=False):
        door.see(acme.pk)
        with transaction.atomic():
            assert visible() == {acme.pk}
        raw = connection.connection.pgconn.exec_(b"SELECT current_setting('ballast.tenant', true)")
        assert raw.get_value(0, 0) in (b"", None)
        assert connection.connection.info.transaction_status.name == "IDLE"


def test_writes_outside_of_transactions_are_stored_at_once(door, acme):
    make_key(acme)
    key = ApiKey.objects.get(tenant=acme)
    with door.open(only_reads=False):
        door.see(acme.pk)
        ApiKey.objects.filter(pk=key.pk).update(name="seen")
        assert connection.connection.info.transaction_status.name == "IDLE"

    assert ApiKey.objects.get(pk=key.pk).name == "seen"


def test_finds_a_key_before_there_is_a_tenant(door, acme):
    text = make_key(acme)
    with door.open(only_reads=True):
        holder = find_key_holder(text=text, now=NOW)
        assert not ApiKey.objects.exists()

    assert holder is not None
    assert holder.tenant_id == acme.pk


def test_names_people_who_are_no_members(door, acme, rival):
    dana = make_member(acme, email="dana@acme.example")
    stranger = make_member(rival, email="stranger@rival.example")
    with door.open(only_reads=True):
        door.see(acme.pk)
        assert set(User.objects.values_list("email", flat=True)) == {dana.email}
        named = names_for_tenants({dana.pk, stranger.pk})
        found = [actor_ids(tenant_id=acme.pk, text=who.email) for who in (dana, stranger)]

    assert named == {dana.pk: dana.email, stranger.pk: stranger.email}
    assert found == [[dana.email, dana.pk], [stranger.email]]


def test_finds_nobody_who_acted_elsewhere(door, acme, rival):
    """Whatever tenant is asked for: the functions of the owner's see what the login sees."""
    stranger = make_member(rival, email="stranger@rival.example")
    with door.open(only_reads=True):
        door.see(acme.pk)
        assert actor_ids(tenant_id=rival.pk, text=stranger.email) == [stranger.email]


@BOTH
def test_shows_requests_of_two_tenants_their_own_on_one_connection(door, acme, rival, only_reads):
    """As behind a pooler, whose server connections go from one request to the next."""
    servers = set()
    for tenant in (acme, rival, acme, rival):
        with door.open(only_reads=only_reads):
            door.see(tenant.pk)
            assert visible() == {tenant.pk}
            with transaction.atomic():
                assert visible() == {tenant.pk}
            servers |= set(rows("SELECT pg_backend_pid()"))

    assert len(servers) == 1


def test_is_told_ids_only(door):
    with door.open(only_reads=True):
        rows(WHO)
        with pytest.raises(ValueError, match="no id"):
            door.see("x'; DROP TABLE balance; --")


class TestSomebodyElsesSql:
    """What a statement that should not have been run can do as this login."""

    @pytest.mark.parametrize(
        "statement",
        [
            f"SET ROLE {settings.DATABASE_APPLICATION_ROLE}",
            f"SET SESSION AUTHORIZATION {settings.DATABASE_APPLICATION_ROLE}",
            "SET session_replication_role = replica",
            "SELECT * FROM django_session",
            "ALTER TABLE funding_fundingtransaction DISABLE ROW LEVEL SECURITY",
            "ALTER ROLE CURRENT_USER BYPASSRLS",
        ],
    )
    def test_takes_no_other_role(self, door, acme, statement):
        with door.open(only_reads=False):
            door.see(acme.pk)
            with pytest.raises(DatabaseError), transaction.atomic():
                rows(statement)

    @pytest.mark.parametrize(
        "statement",
        [
            "SELECT set_config('ballast.tenant', '', true)",
            "SELECT set_config('ballast.tenant', '%', true)",
            "SELECT set_config('ballast.all', 'on', true)",
            "RESET ballast.tenant",
        ],
    )
    def test_no_setting_shows_all(self, door, acme, rival, statement):
        with door.open(only_reads=False):
            door.see(acme.pk)
            with transaction.atomic():
                with connection.cursor() as cursor:
                    cursor.execute(statement)
                assert rival.pk not in visible()

    def test_without_the_wall_it_gets_an_error_and_no_row(self, door, acme):
        with door.open(only_reads=False):
            door.see(acme.pk)
            refused = pytest.raises(ProgrammingError, match="row-level")
            with refused, transaction.atomic():
                rows("SET LOCAL row_security = off")
                rows("SELECT * FROM funding_fundingtransaction")

    @pytest.mark.parametrize("seen", ["acme", ""])
    def test_functions_of_the_owners_post_for_nobody_else(self, door, acme, rival, seen):
        before = balance_of(rival)
        with door.open(only_reads=False):
            door.see(acme.pk)
            with transaction.atomic():
                rows("SELECT set_config('ballast.tenant', %s, true)", acme.pk if seen else "")
                rows(POST, rival.pk)

        assert balance_of(rival) == before
