"""Which way statements take to PostgreSQL: the setting decides, and whoever captures queries."""

from __future__ import annotations

import pytest
from django.conf import settings as current
from django.db import connection
from django.test.utils import CaptureQueriesContext

from common.engine import sql

pytestmark = pytest.mark.django_db(transaction=True)

PREPARED_BY_US = "SELECT FROM pg_prepared_statements WHERE statement = 'SELECT 1 + $1::bigint'"


@pytest.fixture(autouse=True)
def new_connection():
    connection.close()
    yield
    connection.close()


def went_past_the_cursor():
    with connection.cursor() as cursor:
        cursor.execute(PREPARED_BY_US)
        return cursor.fetchone() is not None


@pytest.mark.parametrize("debug", [False, True])
def test_is_what_the_setting_says_in_development_as_well(settings, debug):
    settings.DEBUG = debug

    assert sql.rows("SELECT 1 + %(n)s::bigint", {"n": 1}) == [(2,)]

    assert went_past_the_cursor() is current.DATABASE_FAST_PATH
    assert not connection.queries_log


def test_is_djangos_cursor_while_somebody_captures_queries():
    with CaptureQueriesContext(connection) as captured:
        assert sql.rows("SELECT 1 + %(n)s::bigint", {"n": 1}) == [(2,)]

    assert [query["sql"] for query in captured] == ["SELECT 1 + 1::bigint"]
    assert not went_past_the_cursor()


def test_a_statement_that_gives_rows_without_columns_gives_rows():
    with CaptureQueriesContext(connection):
        assert sql.rows("SELECT", {}) == [()]

    assert sql.rows("SELECT", {}) == [()]
