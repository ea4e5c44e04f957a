"""Two clients behind a pooler that shares server connections: nobody runs the other's statement."""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path

import psycopg
import pytest
from django.db import connection
from psycopg import errors

from common.engine.postgresql import prepared
from common.engine.postgresql.fast import FastWrapper
from common.engine.postgresql.walled import WalledWrapper
from tests.common.engine.paths import fast_path_only
from tests.common.engine.pooler import pooling

pytestmark = [fast_path_only, pytest.mark.django_db(transaction=True)]

AVAILABLE = "SELECT 'available', %(n)s::bigint"
PENDING = "SELECT 'pending', %(n)s::bigint, %(text)s::text"
TOLD = "SELECT current_setting('ballast.tenant', true)"
VALUES = {"n": 1, "text": "x"}


@pytest.fixture
def pooler():
    connection.ensure_connection()
    # Not pytest's folder: a unix socket's path has at most 107 bytes.
    with (
        tempfile.TemporaryDirectory(prefix="pool") as folder,
        pooling(Path(folder), connection.connection, servers=2) as running,
    ):
        yield running


@pytest.fixture
def clients(pooler):
    """Two processes' connections, each as the product makes it."""
    yield from _clients(pooler, FastWrapper)


@pytest.fixture
def walled(pooler):
    """Likewise, of requests that see one tenant."""
    yield from _clients(pooler, WalledWrapper)


def _clients(pooler, kind):
    made = []
    for _ in range(2):
        wrapper = kind(copy.deepcopy(connection.settings_dict))
        wrapper.settings_dict |= {
            "HOST": pooler.address["host"],
            "PORT": str(pooler.address["port"]),
            "USER": pooler.address["user"],
            "NAME": pooler.address["dbname"],
        }
        wrapper.settings_dict["OPTIONS"] = {
            **wrapper.settings_dict["OPTIONS"], "sslmode": "disable", "gssencmode": "disable",
        }  # fmt: skip
        wrapper.settings_dict["OPTIONS"].pop("host", None)
        made.append(wrapper)
    yield made
    for wrapper in made:
        wrapper.close()


def in_transaction(client: FastWrapper, *statements):
    client.set_autocommit(False)
    try:
        return [client.rows(statement, VALUES) for statement in statements]
    finally:
        client.rollback()
        client.set_autocommit(True)


class TestOurStatements:
    def test_are_never_the_other_clients(self, pooler, clients):
        """The first has asked on one server, the second on the other; then the first comes there:
        numbered names would run what the second prepared."""
        first, second = clients
        pooler.use(0)
        assert first.rows(AVAILABLE, VALUES) == [("available", 1)]
        pooler.use(1)
        assert second.rows(PENDING, VALUES) == [("pending", 1, "x")]

        assert first.rows(AVAILABLE, VALUES) == [("available", 1)]
        assert second.rows(AVAILABLE, VALUES) == [("available", 1)]

    def test_are_shared_where_the_text_is_the_same(self, pooler, clients):
        first, second = clients
        for client in (first, second, first):
            assert client.rows(PENDING, VALUES) == [("pending", 1, "x")]
            assert in_transaction(client, PENDING, AVAILABLE) == [
                [("pending", 1, "x")],
                [("available", 1)],
            ]

    def test_are_prepared_again_where_a_server_does_not_know_them(self, pooler, clients):
        first, _ = clients
        pooler.use(0)
        first.rows(AVAILABLE, VALUES)
        pooler.use(1)

        assert first.rows(AVAILABLE, VALUES) == [("available", 1)]

    def test_begin_their_transaction_again_where_a_server_does_not_know_them(self, pooler, clients):
        first, _ = clients
        pooler.use(0)
        first.rows(AVAILABLE, VALUES)
        pooler.use(1)

        assert in_transaction(first, AVAILABLE, AVAILABLE) == [[("available", 1)]] * 2

    def test_survive_that_somebody_deallocates_all(self, pooler, clients):
        first, second = clients
        first.rows(AVAILABLE, VALUES)
        with second.cursor() as cursor:
            cursor.execute("DEALLOCATE ALL")

        assert first.rows(AVAILABLE, VALUES) == [("available", 1)]

    def test_take_a_name_that_is_taken_inside_a_transaction(self, pooler, clients):
        """42P05 would end it."""
        first, second = clients
        first.rows(PENDING, VALUES)

        assert in_transaction(second, AVAILABLE, PENDING)[1] == [("pending", 1, "x")]

    def test_accept_a_name_that_another_server_has(self, pooler, clients):
        """Not on the server connection where it was looked for, but on the next."""
        first, second = clients
        pooler.use(1)
        first.rows(PENDING, VALUES)
        pooler.use(0)
        second.ensure_connection()
        pooler.move_after_next(1)

        assert second.rows(PENDING, VALUES) == [("pending", 1, "x")]


class TestTenants:
    """Whom each transaction sees, whichever server connection it gets."""

    def test_are_told_to_each_transaction_alone(self, pooler, walled):
        first, second = walled
        for number in range(8):
            for client, tenant in ((first, "ten_acme"), (second, "ten_rival")):
                pooler.use(number // 2 % 2)
                client.see(tenant)
                assert client.rows(TOLD, VALUES) == [(tenant,)]
                assert in_transaction(client, TOLD, TOLD) == [[(tenant,)]] * 2
                client.see(None)
                assert client.rows(TOLD, VALUES)[0][0] in ("", None)

    def test_are_told_anew_where_a_server_does_not_know_the_statements(self, pooler, walled):
        first, _ = walled
        first.see("ten_acme")
        for number in range(4):
            pooler.use(number % 2)
            assert first.rows(TOLD, VALUES) == [("ten_acme",)]
            first.connection.pgconn.exec_(b"DEALLOCATE ALL")
            pooler.use((number + 1) % 2)
            assert in_transaction(first, TOLD, TOLD) == [[("ten_acme",)]] * 2

    def test_are_told_where_the_server_changes_between_two_transactions(self, pooler, walled):
        first, _ = walled
        first.see("ten_acme")
        for server in (0, 1, 0, 1):
            pooler.move_after_next(server)
            assert first.rows(TOLD, VALUES) == [("ten_acme",)]


class TestPsycopgsOwn:
    def test_are_named_by_text_and_types(self, pooler, clients):
        """psycopg numbers them, so two clients mean two texts by one name."""
        first, second = clients
        pooler.use(0)
        with first.cursor() as cursor:
            for _ in range(4):
                cursor.execute("SELECT 'available', %s::text", ["x"])
        pooler.use(1)
        with second.cursor() as cursor:
            for _ in range(4):
                cursor.execute("SELECT 'pending', %s::text", ["x"])

        with first.cursor() as cursor, pytest.raises(psycopg.Error) as caught:
            raise_cause(cursor, "SELECT 'available', %s::text")
        assert isinstance(caught.value, errors.InvalidSqlStatementName)

    def test_names_differ_by_types(self):
        text = b"SELECT $1"

        assert prepared.name_of(text, b"(25,)") != prepared.name_of(text, b"(20,)")
        assert prepared.name_of(text) == prepared.name_of(text)


def raise_cause(cursor, statement):
    try:
        cursor.execute(statement, ["x"])
    except Exception as error:
        raise (error.__cause__ or error) from None
