"""The ledger as a whole, for the staff desk."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q, QuerySet, Sum

from balance.models import Balance, LedgerCheck
from common.database_clock import DatabaseNow


@dataclass(frozen=True, kw_only=True)
class Totals:
    """What all tenants had at a moment, in cents, and how many were below zero."""

    at: datetime
    available: int
    pending: int
    locked: int
    overdrawn: int


@dataclass(frozen=True, kw_only=True)
class CheckRun:
    """One run of the audit. `ok` is None while it runs, or when it was killed."""

    id: str
    started_at: datetime
    finished_at: datetime | None
    is_full: bool
    ok: bool | None
    findings: int

    @property
    def seconds(self) -> float | None:
        return (self.finished_at - self.started_at).total_seconds() if self.finished_at else None


def add_up() -> dict[str, int]:
    """The `Totals` of now. Reads every balance row once: 100,000 of them take some 20 ms."""
    # The filter comes first: after `available=` that name would mean the sum.
    sums = Balance.objects.aggregate(
        overdrawn=Count("pk", filter=Q(available__lt=0)),
        available=Sum("available", default=0),
        pending=Sum("pending", default=0),
        locked=Sum("locked", default=0),
    )
    return {name: int(value) for name, value in sums.items()}


def totals() -> Totals | None:
    """What the newest audit of all tenants added up when it began. None before the first one that
    did. One indexed query, however many tenants there are."""
    row = _begun().filter(totals__isnull=False).only("looked_at", "totals").first()
    if row is None or row.totals is None or row.looked_at is None:
        return None
    return Totals(**row.totals, at=row.looked_at)


def last_check() -> CheckRun | None:
    """The newest audit of all tenants. One indexed query."""
    return next(iter(last_checks(limit=1)), None)


def last_verdict() -> CheckRun | None:
    """The newest audit of all tenants that ended. One indexed query."""
    row = _ended().first()
    return None if row is None else _run(row)


def last_subjects(*, prefix: str) -> set[str]:
    """What the newest audit that ended found under codes with this prefix. One indexed query."""
    row = _ended().first()
    findings = row.findings if row else []
    return {each["subject"] for each in findings if each["code"].startswith(prefix)}


def last_checks(*, limit: int) -> list[CheckRun]:
    """The newest audits of all tenants, newest first. One indexed query."""
    return [_run(row) for row in _begun()[:limit]]


def _begun() -> QuerySet[LedgerCheck]:
    """The audits of all tenants, newest first. An audit that is dated ahead is not ours and is left
    out: it would hide the others until its date has come."""
    begun = LedgerCheck.objects.filter(tenant=None, started_at__lte=DatabaseNow())
    return begun.order_by("-started_at")


def _ended() -> QuerySet[LedgerCheck]:
    return _begun().filter(finished_at__isnull=False)


def _run(row: LedgerCheck) -> CheckRun:
    return CheckRun(
        id=row.pk,
        started_at=row.started_at,
        finished_at=row.finished_at,
        is_full=row.is_full,
        ok=row.ok,
        findings=len(row.findings),
    )
