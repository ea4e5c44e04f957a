"""Damage that no code of ours can do."""

from __future__ import annotations

from typing import Any

from django.db import connection, transaction

from balance import invariants
from common import database_clock
from common.clock import utc_now
from tests.database import owner


def tamper(statement: str) -> None:
    """Change rows behind the back of every trigger."""
    with owner.as_superuser(triggers=False), connection.cursor() as cursor:
        cursor.execute(statement)
        assert cursor.rowcount > 0


def found(**options: Any) -> set[str]:
    """The codes of what an audit finds; what it remembers for the next one is forgotten."""
    now = utc_now()
    with transaction.atomic(), database_clock.at(now):
        report = invariants.check(now=now, **options)
        transaction.set_rollback(True)
    return {finding.code for finding in report.findings}
