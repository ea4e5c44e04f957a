"""A backup of the test's database, and its restore: every table as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.db import connection
from psycopg.sql import SQL, Identifier

_OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
_OWNER = "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = %s"


def make() -> str:
    """Copy the database; gives the copy's name."""
    name = f"{connection.settings_dict['NAME']}_backup"
    with _server() as server:
        _drop(server, name)
        _copy(server, str(connection.settings_dict["NAME"]), name)
    return name


def restore(backup: str) -> None:
    """Put the copy in the place of the database, which is lost."""
    name = str(connection.settings_dict["NAME"])
    with _server() as server:
        (owner,) = server.execute(_OWNER, [name]).fetchone() or ("",)
        _drop(server, name)
        _copy(server, backup, name)
        server.execute(
            SQL("ALTER DATABASE {} OWNER TO {}").format(Identifier(name), Identifier(owner))
        )
        _drop(server, backup)


def _copy(server: psycopg.Connection[tuple[str, ...]], source: str, name: str) -> None:
    server.execute(_OTHERS, [source])
    server.execute(
        SQL("CREATE DATABASE {} TEMPLATE {}").format(Identifier(name), Identifier(source))
    )


def _drop(server: psycopg.Connection[tuple[str, ...]], name: str) -> None:
    server.execute(SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(Identifier(name)))


@contextmanager
def _server() -> Iterator[psycopg.Connection[tuple[str, ...]]]:
    """As the superuser whose login the tests have, beside every database of theirs."""
    connection.ensure_connection()
    info = connection.connection.info
    told = {"host": info.host, "port": info.port, "user": info.user, "password": info.password}
    connection.close()
    with psycopg.connect(**told, dbname="postgres", autocommit=True) as server:
        yield server
