"""The database's time: its own in production, whatever a test sets in development."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from common import database_clock
from common.clock import utc_now
from common.database_clock import ClockIsNotSettable
from common.engine import sql
from tests.builders import NOW
from tests.database import owner

MIGRATION = "0007_database_clock"
DAY = timedelta(days=1)


def production_functions():
    """As the migration makes them, for this transaction."""
    module = import_module(f"tenants.migrations.{MIGRATION}")
    with owner.as_owner(), connection.cursor() as cursor:
        cursor.execute(module.DROP + module.CREATE)


@pytest.mark.django_db
class TestDevelopment:
    def test_obeys_what_is_set_and_then_what_was(self):
        usual = database_clock.database_now()

        with database_clock.at(NOW):
            assert database_clock.database_now() == NOW
            with database_clock.at(NOW + DAY):
                assert database_clock.database_now() == NOW + DAY
            assert database_clock.database_now() == NOW

        assert database_clock.database_now() == usual

    def test_is_left_alone_by_a_block_that_breaks_its_transaction(self):
        usual = database_clock.database_now()

        with pytest.raises(ZeroDivisionError), transaction.atomic(), database_clock.at(NOW):
            _ = 1 / 0

        assert database_clock.database_now() == usual

    def test_caps_what_is_ahead_and_nothing_else(self):
        with database_clock.at(NOW):
            assert database_clock.capped(NOW + 31 * DAY) == NOW
            assert database_clock.capped(NOW - DAY) == NOW - DAY

    def test_moves_along_when_nothing_is_set(self):
        sql.rows("SELECT set_config('ballast.now', '', true)", {})

        before = utc_now()
        assert before <= database_clock.database_now() <= utc_now()


@pytest.mark.django_db(transaction=True)
class TestAcrossTransactions:
    def test_it_holds_for_each_of_the_connection(self):
        with database_clock.at(NOW):
            with transaction.atomic():
                assert database_clock.database_now() == NOW
            with transaction.atomic():
                assert database_clock.database_now() == NOW

        assert database_clock.database_now() > NOW


@pytest.mark.django_db
class TestProduction:
    def test_does_not_look_at_the_setting(self):
        production_functions()
        sql.rows("SELECT set_config('ballast.now', '2001-01-01Z', true)", {})

        before = utc_now()
        assert before <= database_clock.database_now() <= utc_now()
        assert not database_clock.is_settable()

    def test_says_so_to_who_sets_it(self):
        production_functions()

        with pytest.raises(ClockIsNotSettable, match="keeps its own time"), database_clock.at(NOW):
            pytest.fail("the time was set")

    def test_settings_outside_development_refuse_as_well(self, settings):
        settings.SETTABLE_DATABASE_CLOCK = False

        with pytest.raises(ClockIsNotSettable), database_clock.at(NOW):
            pytest.fail("the time was set")

    def test_refuses_the_owners_step(self, settings):
        production_functions()
        settings.SETTABLE_DATABASE_CLOCK = False

        with pytest.raises(CommandError, match="Only a development copy"):
            call_command("settable_clock", stdout=StringIO())

        assert not database_clock.is_settable()

    def test_costs_a_statement_nothing(self):
        """PostgreSQL puts the function's one expression in the place of the call."""
        production_functions()

        plan = sql.rows("EXPLAIN VERBOSE SELECT ballast_now()", {})

        assert "statement_timestamp()" in str(plan)
        assert "ballast_now" not in str(plan)
