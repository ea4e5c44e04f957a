"""What a check is given, what it returns, and the moment it looks at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connection, transaction


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What to look at: one tenant or all; what is new since the last audit, or everything."""

    tenant_id: str | None = None
    full: bool = False


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something that must not be. `code` says what, `tenant_id` and `subject` say where."""

    code: str
    tenant_id: str
    subject: str
    message: str

    def __str__(self) -> str:
        return f"{self.code}: {self.tenant_id} {self.subject}: {self.message}"


@contextmanager
def snapshot() -> Iterator[None]:
    """A read-only transaction that sees one moment. Inside a caller's transaction: that one's view.

    Keep it short: while it is open, PostgreSQL cannot tidy up behind busy balances.
    """
    is_own = not connection.in_atomic_block
    with transaction.atomic():
        if is_own:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield


@contextmanager
def by_index() -> Iterator[None]:
    """Read tenant by tenant through indexes, whatever PostgreSQL expects, for this block of a
    transaction.

    It takes a third of a partition for what is new, and reads all of it for every tenant.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        yield
        cursor.execute("SET LOCAL enable_seqscan = on")
