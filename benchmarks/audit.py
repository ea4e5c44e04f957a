"""`check_ledger` over a long history, and again when nothing but a little is new."""

from __future__ import annotations

import time
from collections.abc import Callable

from balance import chains
from balance import services as ledger
from benchmarks import database, paging, seeding
from benchmarks.errors import CannotMeasure
from benchmarks.figures import Figure, Section, ratios
from benchmarks.options import Options
from common.audits import Scope
from common.clock import utc_now
from tenants.actors import SYSTEM

NEW_ROWS = 1_000
_AGGREGATE = """
SELECT count(*), sum(available_delta), sum(locked_delta), sum(amount), max(sequence),
    sum(available_after), sum(locked_after), max(created_at)
FROM balance_transaction
"""


def measure(options: Options) -> Section:
    """Raises CannotMeasure, also where the audit finds something."""
    seeding.require_own_database()
    rows, _mine = paging.prepare(options)
    database.execute("DELETE FROM balance_checkpoint")
    first = _seconds(lambda: _audit(full=True))
    full, aggregate = _against_aggregate(options)
    long_tenant, short_tenant = paging.TENANT, seeding.named_tenant("bench_short")
    long = [_incremental(long_tenant, scope=long_tenant) for _ in range(options.pairs)]
    short = [_incremental(short_tenant, scope=short_tenant) for _ in range(options.pairs)]
    whole = [_incremental(long_tenant, scope=None) for _ in range(options.pairs)]
    return Section(
        "Audit",
        f"{rows:,} rows. The aggregate reads the table once, in one process; a long history of the "
        "audit PostgreSQL may share out to two. Full: all rows are proven, as they are 15 minutes "
        "after they were posted, and proven again; the first audit judges each by the one before "
        f"it. Incremental: {NEW_ROWS:,} new rows of one tenant, with a long history and with none, "
        "of that tenant alone and in the whole ledger.",
        [
            Figure(
                name="full audit ÷ one aggregate",
                values=ratios(full, aggregate),
                aim=3,
                at_most=True,
            ),
            Figure(name="full audit", unit="s", values=full),
            Figure(name="first audit, nothing proven yet", unit="s", values=[first]),
            Figure(
                name="incremental, long history ÷ none",
                values=ratios(long, short),
                aim=2,
                at_most=True,
                note="(our own bound for “independent”)",
            ),
            Figure(name="incremental, long history", unit="s", values=long),
            Figure(name="incremental, the whole ledger", unit="s", values=whole),
        ],
    )


def _against_aggregate(options: Options) -> tuple[list[float], list[float]]:
    """Seconds of full audits and of sequential aggregates, in turns."""
    full: list[float] = []
    aggregate: list[float] = []
    _audit(full=True)
    for _ in range(options.pairs):
        database.execute("SET max_parallel_workers_per_gather = 0")
        aggregate.append(_seconds(lambda: database.execute(_AGGREGATE)))
        database.execute("RESET max_parallel_workers_per_gather")
        full.append(_seconds(lambda: _audit(full=True)))
        options.tell(f"full audit {full[-1]:.1f} s, aggregate {aggregate[-1]:.2f} s")
    return full, aggregate


def _audit(*, full: bool = False, tenant_id: str | None = None) -> None:
    tenant_ids = None if tenant_id is None else (tenant_id,)
    if findings := chains.check(Scope(full=full, tenant_ids=tenant_ids), now=utc_now()):
        raise CannotMeasure(f"the ledger is not clean: {findings[0]}")


def _incremental(tenant_id: str, *, scope: str | None) -> float:
    """Seconds of an audit of a tenant or, without a scope, of all, when one has new rows."""
    _audit()
    for _ in range(NEW_ROWS):
        ledger.adjust(
            tenant_id=tenant_id,
            type="credit",
            amount=1,
            reason="Benchmark",
            actor=SYSTEM,
            now=utc_now(),
        )
    return _seconds(lambda: _audit(tenant_id=scope))


def _seconds(act: Callable[[], None]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began
