"""What must always hold, and the audit that proves it while postings go on.

Every check runs in a read-only transaction with one snapshot, so it judges a state that was really
there. This app checks the chains (`balance.chains`); apps above register what they know: that
pending is their funding in flight, or locked their open payments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

import structlog
from django.db.models.functions import Now

from balance import chains
from balance.findings import Finding, Scope, snapshot
from balance.models import LedgerCheck

__all__ = ["Finding", "Report", "Scope", "check", "register"]

log = structlog.get_logger(__name__)

FINDINGS_STORED_MAX = 1_000
CLEAN_CHECKS_KEPT_FOR = timedelta(days=30)


@dataclass(frozen=True, kw_only=True)
class Report:
    """The outcome of one audit."""

    id: str
    findings: list[Finding]

    @property
    def ok(self) -> bool:
        return not self.findings


Check = Callable[[Scope], Iterable[Finding]]

_checks: list[Check] = []


def register(check: Check) -> Check:
    """Make `check` part of every audit. It runs inside `snapshot()`, and must only read."""
    if check not in _checks:
        _checks.append(check)
    return check


def check(*, now: datetime, tenant_id: str | None = None, full: bool = False) -> Report:
    """Run every check, store the outcome, and move the checkpoints of what was proven."""
    scope = Scope(tenant_id=tenant_id, full=full)
    run = LedgerCheck.objects.create(started_at=now, is_full=full, tenant_id=tenant_id)
    findings = [*chains.check(scope, now=now), *_run_registered(scope)]
    LedgerCheck.objects.filter(pk=run.pk).update(
        finished_at=Now(),
        ok=not findings,
        findings=[asdict(finding) for finding in findings[:FINDINGS_STORED_MAX]],
    )
    LedgerCheck.objects.filter(ok=True, started_at__lt=now - CLEAN_CHECKS_KEPT_FOR).delete()
    for finding in findings[:FINDINGS_STORED_MAX]:
        log.error("ledger_finding", **asdict(finding))
    return Report(id=run.pk, findings=findings)


def _run_registered(scope: Scope) -> list[Finding]:
    findings: list[Finding] = []
    for registered in _checks:
        with snapshot():
            findings.extend(registered(scope))
    return findings
