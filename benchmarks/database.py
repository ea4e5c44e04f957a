"""What the benchmarks ask of the database. It imports no model: the processes of clients import it
before Django is set up."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
from django.db import connection


def empty(*tables: str, and_references: bool = False) -> None:
    """Leave no row in them, whatever their triggers say; nor in tables that refer to them."""
    also = " CASCADE" if and_references else ""
    execute(
        f"SET session_replication_role = replica; TRUNCATE {', '.join(tables)}{also};"
        " RESET session_replication_role"
    )


def execute(statement: str, **values: Any) -> None:
    """Run one statement, which may be one that the application may not."""
    with cursor() as asked:
        asked.execute(statement, values or None)


def scalar(statement: str, **values: Any) -> int:
    """The one number that a statement gives."""
    with cursor() as asked:
        asked.execute(statement, values or None)
        return int(asked.fetchone()[0])


def scalar_of(name: str, statement: str) -> int:
    """The same of another database of the server that `./run bench` started."""
    ours = urlsplit(os.environ["BALLAST_BENCH_SUPERUSER_URL"])
    with _superuser(urlunsplit(ours._replace(path=f"/{name}"))).cursor() as asked:
        asked.execute(statement)
        return int((asked.fetchone() or [0])[0])


@contextmanager
def cursor() -> Iterator[Any]:
    """A superuser's of `./run bench`; elsewhere Django's, whose role the caller chooses."""
    if url := os.environ.get("BALLAST_BENCH_SUPERUSER_URL"):
        with _superuser(url).cursor() as asked:
            yield asked
    else:
        with connection.cursor() as asked:
            yield asked


@cache
def _superuser(url: str) -> psycopg.Connection[Any]:
    """Committed at once. What it makes is a benchmark's own: all may use it."""
    made = psycopg.connect(url, autocommit=True)
    made.execute("ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON TABLES TO PUBLIC")
    return made
