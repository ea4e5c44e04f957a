"""Transactions, limits and lost connections around statements handed to libpq."""

from __future__ import annotations

import threading

import pytest
from django.db import DataError, InternalError, OperationalError, connection, transaction
from psycopg import errors

from common.engine import sql
from tenants.models import Tenant
from tests.common.engine.elsewhere import elsewhere
from tests.common.engine.paths import fast_path_only

# Other tests have their databases on the same server.
_WAITS_HERE = """
SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


def backend():
    ((pid,),) = sql.rows("SELECT pg_backend_pid()", {})
    return pid


@transaction.atomic
def limited(timeout, statement):
    sql.rows(f"SET LOCAL {timeout} = 20", {})
    sql.rows(statement, {})


@transaction.atomic
def change_and(lose):
    sql.rows("UPDATE tenants_tenant SET name = %(name)s", {"name": "Changed"})
    lose()


@transaction.atomic
def change_end_and_change(command, *afterwards):
    Tenant.objects.update(name="Before")
    with connection.cursor() as cursor:
        cursor.execute(command)
    for statement in afterwards:
        sql.rows(statement, {})


def lose_the_connection():
    elsewhere("SELECT pg_terminate_backend(%s, 5000)", backend())
    sql.rows("SELECT pg_backend_pid()", {})


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

    @fast_path_only
    @pytest.mark.parametrize("command", ["ROLLBACK", "COMMIT", "ROLLBACK; SELECT 1"])
    def test_one_that_a_statement_ended_is_not_called_a_success(self, acme, command):
        with pytest.raises(InternalError, match="ended the transaction"):
            change_end_and_change(command, "UPDATE tenants_tenant SET name = name || ' and after'")

        assert Tenant.objects.get().name == ("Before" if command == "COMMIT" else "Acme")
        with transaction.atomic():
            Tenant.objects.update(name="Next")
        assert Tenant.objects.get().name == "Next"

    @fast_path_only
    def test_one_that_ended_at_once_is_not_called_a_success(self, acme):
        with pytest.raises(InternalError, match="ended the transaction"):
            change_end_and_change("ROLLBACK")

    def test_a_block_that_asked_nothing_ends_well(self):
        with transaction.atomic():
            pass

        assert sql.rows("SELECT 1", {}) == [(1,)]

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
        while not sql.rows(_WAITS_HERE, {}):
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
