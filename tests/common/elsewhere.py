"""What other connections do meanwhile."""

from __future__ import annotations

from django.db import connection


def elsewhere(statement, *values):
    """Run `statement` on a connection of its own, committed at once."""
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute(statement, values)
    finally:
        other.close()
