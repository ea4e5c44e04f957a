"""`flush`, which Django runs after each test that commits, for tables that hold a few rows."""

from __future__ import annotations

from typing import Any

from django.core.management.commands import flush
from django.db import connection
from psycopg import sql

from tests.database import owner

# What the models say: no test that commits changes these.
_KEPT = {"django_content_type", "auth_permission"}
# What migrations insert, in the order in which they refer to each other. A rail that a test left
# behind would park what later tests send to a network of its name.
_STANDING = ("rails_rail", "rails_route")
_standing: dict[str, str] = {}  # their rows as JSON


def remember_standing_rows() -> None:
    """Read what the migrations inserted, before the first test."""
    with connection.cursor() as cursor:
        for table in _STANDING:
            cursor.execute(f"SELECT json_agg(line)::text FROM {table} AS line")
            (_standing[table],) = cursor.fetchone()


class Command(flush.Command):
    """Deletes rows: to truncate seventy tables takes PostgreSQL longer than most tests.

    The locks wait, as TRUNCATE would, for whoever still writes. The ledger's triggers refuse to
    delete; only a superuser may pass them by.
    """

    def handle(self, **_options: Any) -> None:
        with owner.as_superuser():
            _delete_everything()


def _delete_everything() -> None:
    names = set(connection.introspection.django_table_names(only_existing=True)) - _KEPT
    tables = [connection.ops.quote_name(name) for name in sorted(names)]
    statements = [
        "SET LOCAL session_replication_role = replica",
        "SET LOCAL lock_timeout = '50s'",  # below the timeout of statements
        f"LOCK TABLE {', '.join(tables)} IN ACCESS EXCLUSIVE MODE",
        *(f"DELETE FROM {table}" for table in tables),
        *(_restored(table) for table in _STANDING),
    ]
    with connection.cursor() as cursor:
        cursor.execute(f"DO $$ BEGIN {'; '.join(statements)}; END $$")


def _restored(table: str) -> str:
    rows = sql.Literal(_standing[table]).as_string(connection.connection)
    return f"INSERT INTO {table} SELECT * FROM json_populate_recordset(null::{table}, {rows})"
