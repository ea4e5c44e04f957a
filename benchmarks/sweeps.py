"""The sweeps with few and with many tenants, 100 of which are due."""

from __future__ import annotations

import time
from collections.abc import Callable

from benchmarks import seeding
from benchmarks.figures import Figure, Section, ratios
from benchmarks.options import Options
from common.clock import utc_now
from funding.services import auto_funding, submission

DUE = 100
RUNS = 9
_TENANTS = """
INSERT INTO tenants_tenant (id, name, mode, status, requires_second_factor, created_at)
SELECT 'bench_sweep' || lpad(n::text, 9, '0'), 'Benchmark', 'sandbox', 'active', false, now()
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""
# Those who are due are paused: finding them is measured, not the funding that would follow.
_CONFIGS = """
INSERT INTO funding_autofundingconfig (
    id, tenant_id, enabled, low_balance_threshold, funding_amount, funding_method,
    confirmation_emails, confirm_topups, paused_reason, last_decline_reason, failures_in_a_row,
    updated_at
)
SELECT 'afc_sweep' || lpad(n::text, 9, '0'), 'bench_sweep' || lpad(n::text, 9, '0'), true, 50000,
    10000, 'ach_debit', '{}', false,
    CASE WHEN n <= %(due)s::int THEN 'benchmark' ELSE '' END, '', 0, now()
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""
_BALANCES = """
INSERT INTO balance (id, tenant_id, currency, available, pending, locked, sequence, notify_below)
SELECT 'bal_sweep' || lpad(n::text, 9, '0'), 'bench_sweep' || lpad(n::text, 9, '0'), 'USD',
    CASE WHEN n <= %(due)s::int THEN 0 ELSE 100000 END, 0, 0, 0, 50000
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""
_BARE_TABLE = """
DROP TABLE IF EXISTS bench_due;
CREATE TABLE bench_due AS
    SELECT 'due_' || n AS id, now() + (n - 100) * interval '1 hour' AS due_at
    FROM generate_series(1, 100000) AS n;
CREATE INDEX ON bench_due (due_at);
"""
_BARE = "SELECT count(*) FROM (SELECT id FROM bench_due WHERE due_at <= now() LIMIT 200) AS due"
_MINE = "WHERE tenant_id LIKE 'bench_sweep%%' AND %(x)s = 0"


def measure(options: Options) -> Section:
    """Raises CannotMeasure."""
    seeding.require_own_database()
    few, many = options.scaled(1_000, 200), options.scaled(100_000, 2_000)
    _forget()
    seeding.execute(_BARE_TABLE)
    seeding.execute("VACUUM ANALYZE bench_due")
    bare = _times(lambda: seeding.scalar(_BARE))
    small = _runs(1, few)
    large = _runs(few + 1, many)
    _forget()
    text = (
        f"{DUE} tenants of {few:,}, then of {many:,}, are below their threshold, and paused: the "
        f"search is measured, {RUNS} times, not the funding that would follow. Bare: an indexed "
        "query for 100 due rows of 100,000. The auto-funding sweep reads every balance row, twice: "
        "an index of the low ones would cost each posting its HOT update. Next: once. The funding "
        "sweep finds nothing due here; what is left is its transaction and its round trips."
    )
    return Section(
        "Sweeps",
        text,
        [figure for name in small for figure in _figures(name, small[name], large[name], bare)],
    )


def _figures(name: str, small: list[float], large: list[float], bare: list[float]) -> list[Figure]:
    return [
        Figure(name=f"{name}, all tenants", unit="ms", values=large),
        Figure(
            name=f"{name}: all tenants ÷ few",
            values=ratios(large, small),
            aim=1.5,
            at_most=True,
            note="(our own bound for “flat”)",
        ),
        Figure(
            name=f"{name} ÷ bare indexed query", values=ratios(large, bare), aim=3, at_most=True
        ),
    ]


def _runs(first: int, last: int) -> dict[str, list[float]]:
    seeding.execute(_TENANTS, first=first, last=last)
    seeding.execute(_CONFIGS, first=first, last=last, due=DUE)
    seeding.execute(_BALANCES, first=first, last=last, due=DUE)
    seeding.execute("VACUUM ANALYZE balance, tenants_tenant, funding_autofundingconfig")
    return {
        "auto-funding sweep": _times(lambda: auto_funding.sweep(now=utc_now())),
        "funding sweep": _times(lambda: submission.submit_due(now=utc_now())),
    }


def _forget() -> None:
    seeding.execute(f"DELETE FROM balance {_MINE}", x=0)  # noqa: S608  # our own text
    seeding.execute(f"DELETE FROM funding_autofundingconfig {_MINE}", x=0)  # noqa: S608
    seeding.execute("DELETE FROM tenants_tenant WHERE id LIKE 'bench_sweep%%' AND %(x)s = 0", x=0)


def _times(act: Callable[[], object]) -> list[float]:
    """Milliseconds of each of some runs, after two to warm up."""
    act(), act()
    took = []
    for _ in range(RUNS):
        began = time.perf_counter()
        act()
        took.append((time.perf_counter() - began) * 1000)
    return took
