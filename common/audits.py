"""The rules of the audit, which every app registers for its own tables.

`balance.invariants` runs them. An app registers its rules when it is ready; this module lies below
all apps, so that each of them can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import connection, models, transaction

# Nothing that is due is put off longer than this: our longest pause is a day (webhooks). Tests run
# days ahead of the database's clock.
NEVER = "interval '30 days'"
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What to look at: some tenants or all (None); everything about them, or what moved after
    `since` by the database's clock."""

    tenant_ids: tuple[str, ...] | None = None
    full: bool = False
    since: datetime = LONG_AGO

    @property
    def values(self) -> dict[str, Any]:
        """The scope as parameters of a statement."""
        tenant_ids = None if self.tenant_ids is None else list(self.tenant_ids)
        return {"tenant_ids": tenant_ids, "full": self.full, "since": self.since}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something that must not be. `code` says what it is, `tenant_id` and `subject` where."""

    code: str
    tenant_id: str
    subject: str
    message: str

    def __str__(self) -> str:
        return f"{self.code}: {self.tenant_id} {self.subject}: {self.message}"


class Unanswered(Exception):
    """A network or provider that has to be asked did not answer: nothing is found, and nothing is
    proven."""


Check = Callable[[Scope], Iterable[Finding]]
Ask = Callable[[Sequence[str]], Iterable[Finding]]


@dataclass(frozen=True, kw_only=True)
class Slices:
    """Rules about rows of one kind, which are judged some at a time.

    `recent` returns the ids that the usual check looks at. `page` returns at most `limit` ids of
    some tenants in a fixed order, from after the last one of the page before (empty: from the
    start). `judge` runs in a snapshot. `ask` runs outside of any transaction, because it may call
    others, and raises Unanswered if they do not answer.
    """

    name: str
    recent: Callable[[Scope], Sequence[str]]
    page: Callable[[Sequence[str], str, int], Sequence[str]]
    judge: Callable[[Sequence[str]], Iterable[Finding]]
    ask: Ask = lambda ids: ()


def rows_of_tenants(
    name: str,
    model: type[models.Model],
    judge: Callable[[Sequence[str]], Iterable[Finding]],
    ask: Ask = lambda ids: (),
) -> Slices:
    """Rules about rows that only the full check looks at: a tenant's rows, in the order of their
    ids."""

    def page(tenant_ids: Sequence[str], after: str, limit: int) -> list[str]:
        rows = model._default_manager.filter(tenant_id__in=list(tenant_ids), pk__gt=after)
        return list(rows.order_by("pk").values_list("pk", flat=True)[:limit])

    return Slices(name=name, recent=lambda scope: (), page=page, judge=judge, ask=ask)


_checks: list[Check] = []
_wholes: list[Check] = []
_slices: list[Slices] = []


def register(check: Check) -> Check:
    """Make `check` part of every audit. It runs inside `snapshot()`, and must only read."""
    if check not in _checks:
        _checks.append(check)
    return check


def register_whole(check: Check) -> Check:
    """Make `check` part of every audit. It runs once for all tenants in scope, outside of a
    transaction, so it must look only at rows that never change, and bound its own statements. It
    must only read."""
    if check not in _wholes:
        _wholes.append(check)
    return check


def register_slices(slices: Slices) -> None:
    """Make `slices` part of every audit."""
    if slices not in _slices:
        _slices.append(slices)


def checks() -> Sequence[Check]:
    return tuple(_checks)


def wholes() -> Sequence[Check]:
    return tuple(_wholes)


def slices() -> Sequence[Slices]:
    return tuple(_slices)


def found(code: str, statement: str, values: dict[str, Any]) -> Iterator[Finding]:
    """A finding for each row that `statement` returns: tenant, subject and message of what breaks a
    rule."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        for tenant_id, subject, message in cursor.fetchall():
            yield Finding(code=code, tenant_id=tenant_id or "", subject=subject, message=message)


def rows(statement: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    """What `statement` returns."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def ids(statement: str, values: dict[str, Any]) -> list[str]:
    """The first column of what `statement` returns."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return [row[0] for row in cursor.fetchall()]


@contextmanager
def snapshot() -> Iterator[None]:
    """A read-only transaction that sees one moment. Inside a caller's transaction it sees what that
    sees.

    Keep it short: while it is open, PostgreSQL cannot clean up behind balances that change often.
    """
    is_own = not connection.in_atomic_block
    with transaction.atomic():
        if is_own:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield


@contextmanager
def by_index() -> Iterator[None]:
    """In this block, read tenant by tenant through indexes, whatever PostgreSQL's planner expects.

    The planner expects a third of a partition to be new, and would read the whole partition for
    each tenant.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        yield
        cursor.execute("SET LOCAL enable_seqscan = on")
