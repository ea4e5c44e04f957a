"""What other connections do meanwhile."""

from __future__ import annotations

from tests.database import owner


def elsewhere(statement, *values):
    """Run `statement` as a superuser on a connection of its own, committed at once."""
    other = owner.another_connection()
    try:
        with other.cursor() as cursor:
            cursor.execute(statement, values)
    finally:
        other.close()
