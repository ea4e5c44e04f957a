"""Changes the ledger behind the back of its triggers and constraints, as a bug or a thief would.

Only inside a test's transaction: its end brings the rules back.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection

from tests import corruption
from tests.database import owner


def tamper(statement: str, *, without: Sequence[str] = ()) -> None:
    """Execute `statement` with the triggers off and the constraints `without` gone."""
    with owner.as_owner(), connection.cursor() as cursor:
        for name in without:
            cursor.execute(f"ALTER TABLE balance_transaction DROP CONSTRAINT {name}")
    corruption.tamper(statement)
