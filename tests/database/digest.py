"""What is in the tables, to prove that something wrote nothing."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from django.db import connection

from tests.database import owner


@contextmanager
def unchanged(*, apart_from: Collection[str] = ()) -> Iterator[None]:
    """Whatever is done inside leaves every row of every table as it was."""
    before = of_tables()
    yield
    after = of_tables()
    found = {name for name in before | after if before.get(name) != after.get(name)}
    assert found - set(apart_from) == set()


def of_tables() -> dict[str, str | None]:
    """A digest of all rows of each table, by its name; None where it has none."""
    with owner.as_superuser(), connection.cursor() as cursor:
        cursor.execute(_statement())
        return dict(cursor.fetchall())


@functools.cache
def _statement() -> str:
    """Over all tables but those of Django that only migrations write."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
            " AND tablename NOT LIKE 'django\\_%' AND tablename NOT LIKE 'auth\\_%permission%'"
        )
        names = sorted(name for (name,) in cursor.fetchall())
    return " UNION ALL ".join(
        f"SELECT '{name}', md5(string_agg(row::text, '' ORDER BY row::text)) FROM {name} AS row"
        for name in names
    )
