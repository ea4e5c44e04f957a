"""Statements that PostgreSQL refuses, for tests of what is left when work breaks in the middle."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from tests.database import owner


@contextmanager
def refusing(table: str, *, on: str, when: str = "true") -> Iterator[None]:
    """Let `on` (INSERT, UPDATE) of a row of `table` fail where the SQL condition `when` holds."""
    _run(
        "CREATE FUNCTION refuse_row() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN RAISE EXCEPTION ''refused by a test''; END'",
        f"CREATE TRIGGER refuse_row BEFORE {on} ON {table} FOR EACH ROW WHEN ({when})"
        " EXECUTE FUNCTION refuse_row()",
    )
    yield
    _run("DROP FUNCTION refuse_row CASCADE")


def _run(*statements: str) -> None:
    """Tables with deferred checks still to be made cannot be altered: make them first."""
    with owner.as_superuser(), connection.cursor() as cursor:
        if connection.in_atomic_block:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for statement in statements:
            cursor.execute(statement)
        if connection.in_atomic_block:
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
