"""Statements handed to libpq: their types, their places, and that they stay prepared."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import cast

import pytest
from django.db import DataError, NotSupportedError, ProgrammingError, connection, transaction
from psycopg.types.json import Jsonb

from common.engine import sql
from common.engine.postgresql import direct
from common.engine.postgresql.fast import FastWrapper
from tests.common.engine.elsewhere import elsewhere
from tests.common.engine.paths import fast_path_only

pytestmark = fast_path_only

NOON = datetime(2026, 11, 21, 12, 0, 0, 123456, tzinfo=UTC)
PREPARED = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %(text)s"


def prepared(text):
    ((count,),) = sql.rows(PREPARED, {"text": f"SELECT%{text}%"})
    return count


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
class TestAPool:
    """With `DATABASE_POOL=True`."""

    @pytest.fixture
    def pooled(self):
        wrapper = cast("FastWrapper", connection.copy())
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
