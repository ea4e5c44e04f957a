"""Statements past Django's cursor: the same rows, the same exceptions, the same transaction."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.exceptions import SynchronousOnlyOperation
from django.db import DataError, IntegrityError, connection, transaction

from common.clock import utc_now
from common.engine import sql
from common.engine.transactions import in_transaction
from tenants.models import AuditEvent, Mode, Tenant, TenantStatus
from tests.database import owner

pytestmark = pytest.mark.django_db


def new_tenant(name="Acme", **fields):
    return Tenant(
        name=name, mode=Mode.SANDBOX, status=TenantStatus.ACTIVE, created_at=utc_now(), **fields
    )


class TestRows:
    def test_come_as_tuples(self):
        assert sql.rows("SELECT %(n)s::int, 'x' UNION ALL SELECT 2, 'y'", {"n": 1}) == [
            (1, "x"),
            (2, "y"),
        ]
        assert sql.first("SELECT 1 WHERE false", {}) is None

    def test_a_statement_without_any_gives_none(self):
        assert sql.rows("UPDATE tenants_tenant SET name = 'x' WHERE false", {}) == []

    def test_are_seen_by_whoever_counts_queries(self, django_assert_num_queries):
        with django_assert_num_queries(1):
            assert sql.rows("SELECT 1", {}) == [(1,)]

    def test_a_broken_transaction_is_refused_as_by_django(self):
        with transaction.atomic():
            transaction.set_rollback(True)
            with pytest.raises(transaction.TransactionManagementError):
                sql.rows("SELECT 1", {})

    def test_an_event_loop_is_not_made_to_wait(self):
        async def wait():
            sql.rows("SELECT 1", {})

        sql.rows("SELECT 1", {})
        with pytest.raises(SynchronousOnlyOperation):
            asyncio.run(wait())

        assert sql.rows("SELECT 1", {}) == [(1,)]

    @pytest.mark.django_db(transaction=True)
    def test_each_thread_has_a_connection_of_its_own(self):
        def session():
            try:
                return sql.rows("SELECT pg_backend_pid()", {})
            finally:
                connection.close()

        with ThreadPoolExecutor(1) as pool:
            theirs = pool.submit(session).result()

        assert theirs != sql.rows("SELECT pg_backend_pid()", {})

    @pytest.mark.django_db(transaction=True)
    def test_a_refused_statement_runs_the_next_time(self):
        statement = "SELECT 10 / %(n)s::int"
        assert sql.rows(statement, {"n": 5}) == [(2,)]

        with pytest.raises(DataError):
            sql.rows(statement, {"n": 0})

        assert sql.rows(statement, {"n": 2}) == [(5,)]


class TestInsert:
    def test_writes_what_save_would(self):
        row = new_tenant()
        sql.insert(row, new_tenant("Rival"))

        kept = Tenant.objects.get(pk=row.pk)
        assert (kept.name, kept.mode, kept.created_at) == (row.name, row.mode, row.created_at)
        assert Tenant.objects.count() == 2
        row.name = "Acme 2"
        row.save(update_fields=["name"])
        assert Tenant.objects.get(pk=row.pk).name == "Acme 2"

    def test_takes_a_step_of_the_caller_s_along(self, django_assert_num_queries):
        row = new_tenant()
        then = "other AS (SELECT %(words)s::text AS words) SELECT words, %(number)s::int FROM other"

        with django_assert_num_queries(1):
            found = sql.insert(row, then=then, values={"words": "x", "number": 5})

        assert found == [("x", 5)]
        assert Tenant.objects.get().pk == row.pk

    def test_converts_what_the_database_would_not_take(self, acme):
        event = AuditEvent(
            tenant=acme,
            actor_type="system",
            actor_id="",
            action="note",
            details={"a": [1, None]},
            address="",
            staff_note="",
            created_at=utc_now(),
        )

        sql.insert(event)

        kept = AuditEvent.objects.get(pk=event.pk)
        assert (kept.details, kept.tenant, kept.subject_id) == ({"a": [1, None]}, acme, "")

    def test_raises_django_s_exceptions_and_writes_nothing_then(self):
        row = new_tenant()

        with pytest.raises(IntegrityError), transaction.atomic():
            sql.insert(row, new_tenant(id=row.pk))

        assert not Tenant.objects.exists()

    def test_an_instance_is_what_was_read(self, acme):
        (row,) = sql.rows(
            f"SELECT {sql.columns(Tenant)} FROM tenants_tenant WHERE id = %(id)s", {"id": acme.pk}
        )

        assert sql.instance(Tenant, row) == acme
        assert sql.instance(Tenant, row).name == acme.name


@pytest.mark.django_db(transaction=True)
class TestJoined:
    def test_has_a_transaction_of_its_own_where_there_is_none(self):
        assert in_transaction(lambda: connection.in_atomic_block)()

    def test_costs_no_savepoint_in_the_caller_s(self, django_assert_num_queries):
        with transaction.atomic(), django_assert_num_queries(0):
            assert in_transaction(lambda: len(connection.savepoint_ids))() == 0


@pytest.mark.django_db(transaction=True)
class TestHealth:
    def test_costs_no_query_at_rest(self, django_assert_num_queries):
        connection.ensure_connection()

        with django_assert_num_queries(0):
            assert connection.is_usable()

    def test_sees_that_the_server_hung_up(self):
        hang_up()

        assert not connection.is_usable()
        connection.close()
        assert sql.rows("SELECT 1", {}) == [(1,)]

    def test_a_broken_connection_is_replaced_before_a_request_s_first_statement(self):
        hang_up()

        connection.close_if_unusable_or_obsolete()  # as Django does between requests

        assert sql.rows("SELECT 1", {}) == [(1,)]


def hang_up():
    pid = sql.rows("SELECT pg_backend_pid()", {})[0][0]
    other = owner.another_connection()
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    finally:
        other.close()
