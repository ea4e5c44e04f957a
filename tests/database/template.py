"""One migrated database that every worker's is copied from, kept for the next run.

Migrating takes seconds of CPU in each process, nearly all of it Django rendering its models after
each operation. The copy is migrated as well, so what is said after migrations is said again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import django
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.db.backends.utils import CursorWrapper

from common import database_clock, fields
from tests.settings import TEST_OWNER_ROLE

_PREFIX = "ballast_template_"
_LOCK = 8_117_251  # of this module alone
# Whoever comes second waits for a whole migration.
_PATIENT = "SET lock_timeout = 0; SET statement_timeout = 0"
_LOCKED = "SELECT pg_advisory_lock(%s)"
_NAMES = "SELECT datname FROM pg_database WHERE datname LIKE %s"


def prepare() -> str:
    """The name of a database with today's migrations; made where there is none."""
    name = _PREFIX + _digest()
    with connection._nodb_cursor() as cursor:
        cursor.execute(_PATIENT)
        cursor.execute(_LOCKED, [_LOCK])  # held until the cursor's connection closes
        known = _names(cursor)
        if name not in known:
            _drop(cursor, known)
            _make(cursor, name)
    return name


def _digest() -> str:
    """Of every migration, ours and those of packages, of Django, of what is ours in them, and of
    who owns what they make."""
    digest = hashlib.sha256(f"{django.__version__} {TEST_OWNER_ROLE}".encode())
    for module in (fields, database_clock):
        digest.update(Path(str(module.__file__)).read_bytes())
    for app in sorted(apps.get_app_configs(), key=lambda app: app.label):
        for path in sorted(Path(app.path, "migrations").rglob("*")):
            if path.suffix in {".py", ".sql"}:
                digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _names(cursor: CursorWrapper) -> list[str]:
    cursor.execute(_NAMES, [f"{_PREFIX}%"])
    return [name for (name,) in cursor.fetchall()]


def _drop(cursor: CursorWrapper, names: list[str]) -> None:
    for name in names:
        cursor.execute(f"DROP DATABASE {connection.ops.quote_name(name)}")


def _make(cursor: CursorWrapper, name: str) -> None:
    """Migrated by the owner, as everywhere; under another name first, so that a run that is killed
    leaves nothing half made."""
    unfinished = f"{_PREFIX}unfinished"
    owner = connection.ops.quote_name(TEST_OWNER_ROLE)
    cursor.execute(f"CREATE DATABASE {unfinished} OWNER {owner}")
    with _connected_to(unfinished):
        call_command("migrate", verbosity=0, interactive=False, run_syncdb=True)
        database_clock.make_settable()
    cursor.execute(f"ALTER DATABASE {unfinished} RENAME TO {connection.ops.quote_name(name)}")


@contextmanager
def _connected_to(name: str) -> Iterator[None]:
    """As the owner of the tables to be."""
    found: dict[str, Any] = connection.settings_dict
    usual, options = found["NAME"], found["OPTIONS"]["options"]
    connection.close()
    found["NAME"] = name
    found["OPTIONS"]["options"] = f"{options} -c role={TEST_OWNER_ROLE}"
    try:
        yield
    finally:
        connection.close()
        found["NAME"], found["OPTIONS"]["options"] = usual, options
