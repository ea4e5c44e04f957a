"""Damage that no code of ours can do."""

from __future__ import annotations

from typing import Any

from django.db import connection, transaction

from balance import invariants
from common.clock import utc_now


def tamper(statement: str) -> None:
    """Change rows behind the back of every trigger."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(statement)
        assert cursor.rowcount > 0
        cursor.execute("SET LOCAL session_replication_role = origin")


def found(**options: Any) -> set[str]:
    """The codes of what an audit finds; what it remembers for the next one is forgotten."""
    with transaction.atomic():
        report = invariants.check(now=utc_now(), **options)
        transaction.set_rollback(True)
    return {finding.code for finding in report.findings}
