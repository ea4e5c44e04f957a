"""The audit of the books, which runs while postings go on.

The usual check looks at what is new, every 15 minutes. The full check looks at everything, some
tenants at a time; each usual check also takes a share of it (`balance.rolling`). Rules run in
read-only transactions with one snapshot each, so they judge states that really existed. This app
checks the chains (`balance.chains`). Other apps register with `common.audits` what they know: that
pending is their funding in flight, or locked their open payments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

import structlog
from django.db.models.functions import Now

from balance import chains, figures, proving, rolling
from balance.models import LedgerCheck
from balance.operator import totals as operator_totals
from common import audits
from common.audits import Finding, Scope, register
from common.database.job_doors import by
from common.database.jobs import AUDIT
from common.database_clock import capped, database_now

__all__ = ["Finding", "Report", "Scope", "check", "register"]

log = structlog.get_logger(__name__)

FINDINGS_STORED_MAX = 1_000
CLEAN_CHECKS_KEPT_FOR = timedelta(days=30)
# The usual check finds damage to what moved during the last day. If no check has ended for longer
# than that, the next one starts where the last one began.
LOOKS_BACK = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class Report:
    """The outcome of one audit."""

    id: str
    findings: list[Finding]

    @property
    def ok(self) -> bool:
        return not self.findings


@by(AUDIT)
def check(
    *, now: datetime, tenant_id: str | None = None, full: bool = False, roll: bool = False
) -> Report:
    """Run every check, store the outcome, and move the checkpoints of what was proven. One of all
    tenants also stores the operator's totals of days that are over.

    `roll`: the usual check of all tenants also proves its share of them in full.
    """
    began, since = _window()
    if tenant_id is None:
        operator_totals.roll_up()
    run = LedgerCheck.objects.create(
        started_at=min(now, began),
        is_full=full,
        tenant_id=tenant_id,
        looked_at=began,
        totals=figures.add_up() if tenant_id is None else None,
    )
    tenant_ids = None if tenant_id is None else (tenant_id,)
    scope = Scope(tenant_ids=tenant_ids, full=full, since=since)
    findings = [finding for whole in audits.wholes() for finding in whole(scope)]
    findings += _prove_all(scope, now) if full else proving.recent(scope, now=now)
    if roll:
        findings += rolling.run(now=now)
    return _store(run, list(dict.fromkeys(findings)), now)


def _prove_all(scope: Scope, now: datetime) -> Iterator[Finding]:
    for tenant_ids in chains.batches(scope):
        yield from rolling.prove(tenant_ids, now=now)


def _window() -> tuple[datetime, datetime]:
    """Now, and since when the usual check looks at what moved, by the clock of the database's
    machine, where the ledger is."""
    began = database_now()
    # A check that is dated ahead does not count: it would hide the last real one.
    ended = LedgerCheck.objects.filter(tenant=None, finished_at__isnull=False, looked_at__lte=began)
    last = ended.order_by("-looked_at").values_list("looked_at", flat=True).first()
    return began, min(began - LOOKS_BACK, last or audits.LONG_AGO)


def _store(run: LedgerCheck, findings: list[Finding], now: datetime) -> Report:
    LedgerCheck.objects.filter(pk=run.pk).update(
        finished_at=Now(),
        ok=not findings,
        findings=[asdict(finding) for finding in findings[:FINDINGS_STORED_MAX]],
    )
    forgotten = capped(now) - CLEAN_CHECKS_KEPT_FOR
    LedgerCheck.objects.filter(ok=True, started_at__lt=forgotten).delete()
    for finding in findings[:FINDINGS_STORED_MAX]:
        log.error("ledger_finding", **asdict(finding))
    return Report(id=run.pk, findings=findings)
