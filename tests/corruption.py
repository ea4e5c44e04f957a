"""Damage that no code of ours can do."""

from __future__ import annotations

from django.db import connection


def tamper(statement: str) -> None:
    """Change rows behind the back of every trigger."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(statement)
        assert cursor.rowcount > 0
        cursor.execute("SET LOCAL session_replication_role = origin")
