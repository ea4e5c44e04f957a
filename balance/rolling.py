"""The rolling full audit: each tick proves its share of the tenants, so that all are proven within
a day, at a bounded cost (decision 0112).

The tenants whose proof is oldest come first. A large tenant is proven over several ticks. Whoever
has findings is proven again at each tick, so that a finding stays until it is gone.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from balance import proving
from balance.proving import Position
from common.audits import Finding
from common.database_clock import database_now
from common.engine import arrays, sql

# One pass through all tenants takes 18 hours at 96 ticks a day. A proof that is older than 20 hours
# is made again whatever the share.
TICKS_PER_PASS = 72
OVERDUE = timedelta(hours=20)
# Each tick of 15 minutes may take so many seconds, plus the part that it has begun.
SECONDS_MAX = 120.0
TENANTS_PER_TICK_MAX = 10_000
FAILING_PER_TICK = 20
# Small tenants are proven together, up to so many lines of the ledger.
LINES_PER_BATCH = 20_000
TENANTS_PER_BATCH = 100

_NEXT = """
SELECT tenant.id, coalesce(balance.sequence, 0), coalesce(proof.step, ''),
    coalesce(proof.after, ''), proof.began_at, proof.is_clean,
    coalesce(
        proof.proven_at NOT BETWEEN ballast_now() - %(overdue)s::interval AND ballast_now(), true
    )
FROM tenants_tenant AS tenant
LEFT JOIN balance ON balance.tenant_id = tenant.id
LEFT JOIN balance_full_proof AS proof ON proof.tenant_id = tenant.id
WHERE NOT %(only_failing)s::boolean OR NOT proof.is_ok
-- A proof of the future is none: the database's clock was wrong, or somebody wrote it.
ORDER BY proof.began_at IS NULL,
    CASE WHEN proof.proven_at <= ballast_now() THEN proof.proven_at END NULLS FIRST, tenant.id
LIMIT %(most)s
"""
_COUNT = "SELECT count(*) FROM tenants_tenant"
_OLDEST = """
SELECT min(CASE WHEN proof.proven_at <= ballast_now() THEN proof.proven_at
    ELSE tenant.created_at END)
FROM tenants_tenant AS tenant LEFT JOIN balance_full_proof AS proof ON proof.tenant_id = tenant.id
"""

# A running proof stores where it continues; a finished one counts from its beginning. Two ticks at
# once prove and write the same.
_RECORD = """
INSERT INTO balance_full_proof (tenant_id, proven_at, is_ok, began_at, is_clean, step, after)
SELECT id, %(proven_at)s::timestamptz, ok, %(began_at)s::timestamptz, %(is_clean)s::boolean,
    %(step)s::text, %(after)s::text
FROM unnest(%(tenant_ids)s::text::varchar[], %(ok)s::text::boolean[]) AS proof (id, ok)
ON CONFLICT (tenant_id) DO UPDATE
SET proven_at = coalesce(excluded.proven_at, balance_full_proof.proven_at),
    is_ok = CASE WHEN excluded.proven_at IS NULL
        THEN balance_full_proof.is_ok AND excluded.is_ok ELSE excluded.is_ok END,
    began_at = excluded.began_at,
    is_clean = excluded.is_clean,
    step = excluded.step,
    after = excluded.after
"""


class Due(NamedTuple):
    """A tenant to prove: `lines` says how large it is, and the rest how far a proof has come."""

    tenant_id: str
    lines: int
    step: str
    after: str
    began_at: datetime | None
    is_clean: bool | None
    is_overdue: bool


def run(*, now: datetime, clock: Callable[[], float] = time.monotonic) -> Iterator[Finding]:
    """Prove this tick's share: at least one part; no new one after `SECONDS_MAX`."""
    deadline = clock() + SECONDS_MAX
    for batch in _batches(_share()):
        yield from _prove(batch, now=now, may_go_on=lambda: clock() < deadline)
        if clock() >= deadline:
            return


def prove(tenant_ids: Sequence[str], *, now: datetime) -> Iterator[Finding]:
    """Prove these tenants now, from the beginning to the end."""
    batch = [Due(tenant_id, 0, "", "", None, None, False) for tenant_id in tenant_ids]
    yield from _prove(batch, now=now, may_go_on=lambda: True)


def oldest_proof() -> datetime | None:
    """Since when every tenant was proven from its first row, or was created. None: there is no
    tenant.

    Reads a small row per tenant: 100,000 take some 30 ms.
    """
    ((oldest,),) = sql.rows(_OLDEST, {})
    instant: datetime | None = oldest
    return instant


def _share() -> list[Due]:
    """The tenants to prove now: those with findings, then the oldest proofs, as many as one share
    of a pass and whatever is overdue."""
    ((tenants,),) = sql.rows(_COUNT, {})
    quota = math.ceil(tenants / TICKS_PER_PASS)
    failing = _next(only_failing=True, most=FAILING_PER_TICK)
    oldest = _next(only_failing=False, most=min(tenants, TENANTS_PER_TICK_MAX))
    known = {due.tenant_id for due in failing}
    return failing + [
        due
        for number, due in enumerate(oldest)
        if (number < quota or due.is_overdue) and due.tenant_id not in known
    ]


def _next(*, only_failing: bool, most: int) -> list[Due]:
    values = {"only_failing": only_failing, "most": most, "overdue": OVERDUE}
    return [Due(*row) for row in sql.rows(_NEXT, values)]


def _batches(share: Sequence[Due]) -> Iterator[list[Due]]:
    """Small tenants together; one that is large, or in the middle of its proof, by itself."""
    batch: list[Due] = []
    for due in share:
        if due.lines >= LINES_PER_BATCH or due.began_at is not None:
            yield [due]
            continue
        lines = sum(each.lines for each in batch) + due.lines
        if batch and (lines > LINES_PER_BATCH or len(batch) >= TENANTS_PER_BATCH):
            yield batch
            batch = []
        batch.append(due)
    if batch:
        yield batch


def _prove(
    batch: Sequence[Due], *, now: datetime, may_go_on: Callable[[], bool]
) -> Iterator[Finding]:
    """Prove a batch of several to its end; a single tenant may stop between two parts."""
    tenant_ids = [due.tenant_id for due in batch]
    began_at = batch[0].began_at or database_now()
    start = Position(batch[0].step, batch[0].after)
    failing = {due.tenant_id for due in batch if due.is_clean is False}
    for part in proving.everything(tenant_ids, now=now, start=start):
        yield from part.findings
        failing |= {finding.tenant_id for finding in part.findings}
        if not part.is_answered:
            return  # and asked again at the next tick: the proof stays as old as it is
        if part.go_on is None:
            _record(tenant_ids, failing, proven_at=began_at)
        elif len(batch) == 1:
            _record(tenant_ids, failing, began_at=began_at, position=part.go_on)
            if not may_go_on():
                return


def _record(
    tenant_ids: Sequence[str],
    failing: set[str],
    *,
    proven_at: datetime | None = None,
    began_at: datetime | None = None,
    position: Position | None = None,
) -> None:
    step, after = position or Position()
    values: dict[str, Any] = {
        "tenant_ids": arrays.texts(tenant_ids),
        "ok": arrays.plain(each not in failing for each in tenant_ids),
        "proven_at": proven_at,
        "began_at": began_at,
        "is_clean": None if position is None else not failing,
        "step": step,
        "after": after,
    }
    sql.rows(_RECORD, values)
