"""Statements handed to libpq: their types, and what happens to them when things go wrong."""

from __future__ import annotations

import threading
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import cast

import pytest
from django.db import (
    DataError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    connection,
    transaction,
)
from psycopg import errors
from psycopg.types.json import Jsonb

from common import sql
from common.postgresql import direct
from common.postgresql.base import DatabaseWrapper
from tenants.models import Tenant

NOON = datetime(2026, 11, 21, 12, 0, 0, 123456, tzinfo=UTC)
PREPARED = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %(text)s"


def prepared(text):
    ((count,),) = sql.rows(PREPARED, {"text": f"SELECT%{text}%"})
    return count


def backend():
    ((pid,),) = sql.rows("SELECT pg_backend_pid()", {})
    return pid


def elsewhere(statement, *values):
    """Run `statement` on a connection of its own, committed at once."""
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute(statement, values)
    finally:
        other.close()


@transaction.atomic
def limited(timeout, statement):
    sql.rows(f"SET LOCAL {timeout} = 20", {})
    sql.rows(statement, {})


@transaction.atomic
def change_and(lose):
    sql.rows("UPDATE tenants_tenant SET name = %(name)s", {"name": "Changed"})
    lose()


def lose_the_connection():
    elsewhere("SELECT pg_terminate_backend(%s, 5000)", backend())
    sql.rows("SELECT pg_backend_pid()", {})


@pytest.mark.django_db
class TestTypes:
    @pytest.mark.parametrize(
        ("type_", "value"),
        [
            ("text", ""),
            ("text", "grün \U0001f4b6 100 %"),
            ("varchar", "x" * 10_000),
            ("bigint", 2**63 - 1),
            ("bigint", -(2**63)),
            ("int", -(2**31)),
            ("smallint", 2**15 - 1),
            ("boolean", True),
            ("boolean", False),
            ("timestamptz", NOON),
            ("timestamptz", datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)),
            ("date", date(2026, 2, 28)),
            ("interval", timedelta(days=3, microseconds=1)),
            ("bytea", b"\0\xff"),
            ("numeric", Decimal("12.340")),
            ("float", 0.1),
            ("text[]", ["a", 'b"', ""]),
            ("varchar[]", []),
            ("bigint[]", [1, 2**40]),
        ],
    )
    def test_arrive_and_come_back(self, type_, value):
        statement = f"SELECT %(value)s::{type_}, pg_typeof(%(value)s::{type_}) = '{type_}'::regtype"

        assert sql.rows(statement, {"value": value}) == [(value, True)]
        assert sql.rows(statement, {"value": None}) == [(None, True)]
        assert sql.rows(statement, {"value": value}) == [(value, True)]

    def test_json(self):
        value = {"a": [1, None, "ü"]}
        statement = "SELECT %(value)s::jsonb ->> 'a'"

        assert sql.rows(statement, {"value": Jsonb(value)}) == [('[1, null, "ü"]',)]

    def test_are_inferred(self):
        statement = "SELECT id FROM tenants_tenant WHERE id = %s AND created_at < %s LIMIT %s"

        assert sql.rows(statement, ["x", NOON, 5]) == []

    @pytest.mark.parametrize(
        ("type_", "value"),
        [("smallint", 2**15), ("int", 2**31), ("int", -(2**40)), ("bigint", 2**63)],
    )
    def test_a_number_that_does_not_fit_is_refused(self, type_, value):
        with pytest.raises(DataError):
            sql.rows(f"SELECT %(value)s::{type_}", {"value": value})

    def test_a_text_that_postgresql_cannot_store_is_refused(self):
        with pytest.raises(DataError), transaction.atomic():
            sql.rows("SELECT %(value)s::text", {"value": "a\0b"})

    @pytest.mark.parametrize(
        ("type_", "value"),
        [
            ("text", 5),
            ("bigint", "5"),
            ("timestamptz", "now"),
            ("timestamptz", NOON.replace(tzinfo=None)),
        ],
    )
    def test_a_value_of_another_type_is_a_mistake(self, type_, value):
        with pytest.raises((TypeError, DataError)):
            sql.rows(f"SELECT %(value)s::{type_}", {"value": value})


@pytest.mark.django_db
class TestPlaces:
    def test_a_name_is_one_parameter_wherever_it_stands(self):
        statement = "SELECT %(b)s::text || %(a)s::text || %(b)s::text || '%%'"

        assert sql.rows(statement, {"a": "1", "b": "2", "unused": object()}) == [("212%",)]

    def test_without_names_each_is_its_own(self):
        assert sql.rows("SELECT %s::text || %s::text, '%%s'", ["1", "2"]) == [("12", "%s")]

    def test_a_missing_value_is_a_mistake(self):
        with pytest.raises(KeyError):
            sql.rows("SELECT %(a)s::text", {})

    def test_a_statement_watched_gives_the_same(self, django_assert_num_queries):
        statement = "SELECT %(n)s::bigint, %(text)s::text, %(now)s::timestamptz, '%%'"
        values = {"n": 7, "text": "x", "now": NOON}

        with django_assert_num_queries(1):
            watched = sql.rows(statement, values)

        assert watched == sql.rows(statement, values) == [(7, "x", NOON, "%")]


@pytest.mark.django_db(transaction=True)
class TestPrepared:
    def test_once_for_a_connection(self):
        for number in range(3):
            assert sql.rows("SELECT %(n)s::bigint + 101", {"n": number}) == [(number + 101,)]

        assert prepared("+ 101") == 1
        connection.close()
        assert prepared("+ 101") == 0

    def test_survives_rollbacks(self):
        with transaction.atomic():
            with transaction.atomic():
                sql.rows("SELECT %(n)s::bigint + 102", {"n": 1})
                transaction.set_rollback(True)
            assert prepared("+ 102") == 1
            transaction.set_rollback(True)

        assert prepared("+ 102") == 1
        assert sql.rows("SELECT %(n)s::bigint + 102", {"n": 1}) == [(103,)]
        assert prepared("+ 102") == 1

    @pytest.mark.parametrize("command", ["DROP TABLE gone", "SELECT 1; DROP TABLE gone; SELECT 2"])
    def test_is_prepared_anew_when_psycopg_throws_all_away(self, command):
        with transaction.atomic():
            assert sql.rows("SELECT %(n)s::bigint + 103", {"n": 1}) == [(104,)]
            with connection.cursor() as cursor:
                cursor.execute("CREATE TEMPORARY TABLE gone ()")
                for _ in range(4):
                    cursor.execute("SELECT %s::text", ["psycopg prepares it"])
                cursor.execute(command)

            assert sql.rows("SELECT %(n)s::bigint + 103", {"n": 1}) == [(104,)]

    def test_is_prepared_anew_when_somebody_deallocated_it(self):
        sql.rows("SELECT %(n)s::bigint + 104", {"n": 1})
        connection.connection.pgconn.exec_(b"DEALLOCATE ALL")

        assert sql.rows("SELECT %(n)s::bigint + 104", {"n": 1}) == [(105,)]

    def test_only_so_many_are_kept(self, monkeypatch):
        monkeypatch.setattr(direct, "PREPARED_MAX", 3)
        connection.close()

        for number in range(5):
            assert sql.rows(f"SELECT %(n)s::bigint + 20{number}", {"n": 1}) == [(201 + number,)]

        assert prepared("+ 200") == prepared("+ 201") == 0
        assert sql.rows("SELECT %(n)s::bigint + 200", {"n": 1}) == [(201,)]

    def test_a_refused_text_is_not_kept(self):
        with pytest.raises(ProgrammingError):
            sql.rows("SELECT nothing_of_this_name", {})

        assert sql.rows("SELECT 1", {}) == [(1,)]

    def test_what_was_read_is_not_kept(self):
        sql.rows("SELECT generate_series(1, %(n)s::int)", {"n": 1000})

        for statement in vars(connection.connection)["_ballast_direct"]._prepared.values():
            assert statement._loads.pgresult is None


@pytest.mark.django_db(transaction=True)
class TestAMigrationMeanwhile:
    STATEMENT = "SELECT * FROM tenants_tenant WHERE name = %(name)s"

    @pytest.fixture(autouse=True)
    def column(self):
        """A column that is added while the statement is prepared, and goes away afterwards."""
        sql.rows(self.STATEMENT, {"name": "Acme"})
        elsewhere("ALTER TABLE tenants_tenant ADD COLUMN motto text DEFAULT 'pay'")
        yield
        connection.close()
        elsewhere("ALTER TABLE tenants_tenant DROP COLUMN motto")

    def test_is_met_with_a_new_plan(self, acme):
        (row,) = sql.rows(self.STATEMENT, {"name": "Acme"})

        assert row[-1] == "pay"

    def test_ends_an_open_transaction_once(self, acme):
        with pytest.raises(NotSupportedError), transaction.atomic():
            sql.rows(self.STATEMENT, {"name": "Acme"})

        with transaction.atomic():
            (row,) = sql.rows(self.STATEMENT, {"name": "Acme"})
        assert row[-1] == "pay"


@pytest.mark.django_db(transaction=True)
class TestTransactions:
    def test_outside_of_one_each_statement_is_committed(self, acme):
        sql.rows("UPDATE tenants_tenant SET name = %(name)s", {"name": "Changed"})
        connection.close()

        assert Tenant.objects.get().name == "Changed"

    def test_the_first_statement_of_a_block_begins_one(self, acme):
        with transaction.atomic():
            sql.rows("UPDATE tenants_tenant SET name = %(name)s", {"name": "Changed"})
            transaction.set_rollback(True)

        assert Tenant.objects.get().name == "Acme"

    def test_a_savepoint_takes_back_only_its_own(self, acme):
        statement = "UPDATE tenants_tenant SET name = name || %(more)s"
        with transaction.atomic():
            with transaction.atomic():
                sql.rows(statement, {"more": " 1"})
            with transaction.atomic():
                sql.rows(statement, {"more": " 2"})
                transaction.set_rollback(True)
            sql.rows(statement, {"more": " 3"})

        assert Tenant.objects.get().name == "Acme 1 3"

    def test_a_block_may_begin_with_a_block(self, acme):
        with transaction.atomic():
            with transaction.atomic():
                Tenant.objects.update(name="Changed")
            transaction.set_rollback(True)

        assert Tenant.objects.get().name == "Acme"

    def test_an_error_ends_the_transaction_as_any_other_does(self, acme):
        with transaction.atomic():
            with pytest.raises(DataError) as refusal:
                sql.rows("SELECT 1 / %(n)s::int", {"n": 0})
            assert isinstance(refusal.value.__cause__, errors.DivisionByZero)
            assert refusal.value.__cause__.diag.sqlstate == "22012"
            with pytest.raises(InternalError):
                sql.rows("SELECT 1", {})
            transaction.set_rollback(True)

        assert sql.rows("SELECT 1", {}) == [(1,)]

    def test_savepoints_and_rollbacks_are_seen_by_whoever_counts(self, django_assert_num_queries):
        with django_assert_num_queries(8) as queries, transaction.atomic():
            with transaction.atomic():
                sql.rows("SELECT 1", {})
            with transaction.atomic():
                transaction.set_rollback(True)
            transaction.set_rollback(True)

        texts = " ".join(query["sql"].split(" ")[0] for query in queries.captured_queries)
        assert texts == "BEGIN SAVEPOINT SELECT RELEASE SAVEPOINT ROLLBACK RELEASE ROLLBACK"

    def test_a_rollback_outside_of_one_does_nothing(self):
        connection.rollback()

        assert sql.rows("SELECT 1", {}) == [(1,)]


@pytest.mark.django_db(transaction=True)
class TestLimits:
    def test_a_locked_row_is_waited_for_no_longer_than_allowed(self, acme):
        held = threading.Event()
        done = threading.Event()

        def hold():
            with transaction.atomic():
                Tenant.objects.select_for_update().get()
                held.set()
                done.wait(10)
            connection.close()

        thread = threading.Thread(target=hold)
        thread.start()
        try:
            assert held.wait(10)
            with pytest.raises(OperationalError) as refusal:
                limited("lock_timeout", "SELECT id FROM tenants_tenant FOR UPDATE")
        finally:
            done.set()
            thread.join()
        assert isinstance(refusal.value.__cause__, errors.LockNotAvailable)

    def test_a_statement_lasts_no_longer_than_allowed(self):
        with pytest.raises(OperationalError) as refusal:
            limited("statement_timeout", "SELECT pg_sleep(10)")

        assert isinstance(refusal.value.__cause__, errors.QueryCanceled)

    def test_other_threads_run_meanwhile(self):
        """The one that waits in PostgreSQL is told to go on by another thread."""
        sql.rows("SELECT pg_advisory_lock(%(n)s)", {"n": 82})

        def wait():
            sql.rows("SELECT pg_advisory_lock(%(n)s)", {"n": 82})
            connection.close()

        thread = threading.Thread(target=wait)
        thread.start()
        while not sql.rows("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted", {}):
            pass
        sql.rows("SELECT pg_advisory_unlock(%(n)s)", {"n": 82})
        thread.join(10)
        assert not thread.is_alive()


@pytest.mark.django_db(transaction=True)
class TestLostConnection:
    @pytest.fixture
    def killed(self):
        elsewhere("SELECT pg_terminate_backend(%s, 5000)", backend())

    def test_is_an_operational_error_and_a_new_one_works(self, killed):
        for _ in range(2):
            with pytest.raises(OperationalError):
                sql.rows("SELECT 1", {})

        connection.close()
        assert backend()

    def test_before_the_first_statement_of_a_block(self, killed):
        with pytest.raises(OperationalError), transaction.atomic():
            sql.rows("SELECT pg_backend_pid()", {})

        assert backend()

    @pytest.mark.parametrize("lose", [lose_the_connection, transaction.atomic(lose_the_connection)])
    def test_in_the_middle_of_a_block_takes_all_of_it_back(self, acme, lose):
        with pytest.raises(OperationalError):
            change_and(lose)

        assert Tenant.objects.get().name == "Acme"


@pytest.mark.django_db(transaction=True)
class TestAPool:
    """With `DATABASE_POOL=True`."""

    @pytest.fixture
    def pooled(self):
        wrapper = cast("DatabaseWrapper", connection.copy())
        wrapper.settings_dict["CONN_MAX_AGE"] = 0
        wrapper.settings_dict["OPTIONS"] |= {"pool": {"min_size": 1, "max_size": 1}}
        yield wrapper
        wrapper.close()
        wrapper.close_pool()

    def test_hands_out_a_connection_with_what_is_prepared_on_it(self, pooled):
        assert pooled.rows("SELECT %(n)s::bigint + 105", {"n": 1}) == [(106,)]
        pooled.close()

        assert pooled.rows(PREPARED, {"text": "SELECT%+ 105%"}) == [(1,)]

    def test_keeps_what_is_prepared_on_one_that_comes_back_in_a_transaction(self, pooled, acme):
        statement = "UPDATE tenants_tenant SET name = name || %(more)s RETURNING name"
        pooled.set_autocommit(False)
        for _ in range(4):  # psycopg prepares it, too: only then has it something to throw away
            with pooled.cursor() as cursor:
                cursor.execute("SELECT %s::text", ["x"])
        assert pooled.rows(statement, {"more": " 1"}) == [("Acme 1",)]
        backend = pooled.connection.info.backend_pid
        pooled.close()

        pooled.set_autocommit(False)
        pooled.rows("SELECT 1", {})

        assert pooled.rows(statement, {"more": " 2"}) == [("Acme 2",)]
        assert pooled.connection.info.backend_pid == backend
