"""The searches of the sweeps with few and with many tenants, 100 of which are due."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from balance import selectors as balances
from benchmarks import database, seeding
from benchmarks.errors import CannotMeasure
from benchmarks.figures import Figure, Section, ratios
from benchmarks.options import Options
from common.clock import utc_now
from common.engine import sql
from funding.services import auto_funding
from funding.transfer import FUNDING
from transfers import claims, submission

DUE = 100
RUNS = 60
_TENANTS = """
INSERT INTO tenants_tenant (id, name, mode, status, requires_second_factor, created_at)
SELECT 'bench_sweep' || lpad(n::text, 9, '0'), 'Benchmark', 'sandbox', 'active', false, now()
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""
# Of a hundred, one is paused and one has an automatic funding under way; both are low.
_CONFIGS = """
INSERT INTO funding_autofundingconfig (
    id, tenant_id, enabled, low_balance_threshold, funding_amount, funding_method,
    confirmation_emails, confirm_topups, paused_reason, last_decline_reason, failures_in_a_row,
    updated_at
)
SELECT 'afc_sweep' || lpad(n::text, 9, '0'), 'bench_sweep' || lpad(n::text, 9, '0'), true, 50000,
    10000, 'ach_debit', '{}', false,
    CASE WHEN n %% 100 = 1 THEN 'benchmark' ELSE '' END, '', 0, now()
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""
_BALANCES = """
INSERT INTO balance (
    id, tenant_id, currency, available, pending, locked, sequence, notify_below, is_low
)
SELECT 'bal_sweep' || lpad(n::text, 9, '0'), 'bench_sweep' || lpad(n::text, 9, '0'), 'USD',
    CASE WHEN n %% 100 < 2 THEN 0 ELSE 100000 END, CASE WHEN n %% 100 = 0 THEN 10000 ELSE 0 END,
    0, 0, 50000, n %% 100 < 2
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""
_FUNDINGS = """
INSERT INTO funding_fundingtransaction (
    id, tenant_id, source_id, amount, currency, status, method, trigger, created_by_type,
    created_by_id, description, metadata, requires_confirmation, expected_availability_date,
    reserved_at, in_transit_at, completed_at, next_attempt_at, failure_code, failure_message,
    returned, return_code, return_reason, network, network_reference, trace_number, history_length,
    event_sequence, lease_version, attempts, hold_reason, created_at, updated_at
)
SELECT 'ftx_sweep' || %(kind)s || lpad(n::text, 9, '0'), 'bench_sweep' || lpad(n::text, 9, '0'),
    %(source)s, 10000, 'USD', %(status)s::text, 'ach_debit', %(trigger)s, 'system', '', '', '{}',
    false,
    now()::date, now(), now(), now(),
    CASE WHEN %(status)s::text = 'reserved' THEN now() - interval '1 minute' END, '', '', false, '',
    '',
    'sandbox', '', '', 1, 1, 0, 0, '', now(), now()
FROM generate_series(%(first)s::int, %(last)s::int, %(step)s::int) AS n
"""
_CHANGE_DUE = """
UPDATE balance SET available = %(available)s, is_low = %(available)s < 50000
WHERE tenant_id IN (
    SELECT 'bench_sweep' || lpad(n::text, 9, '0') FROM generate_series(2, 199) AS n
    WHERE n %% 100 > 1 ORDER BY n LIMIT %(due)s
)
"""
_BARE_TABLE = """
DROP TABLE IF EXISTS bench_due;
CREATE TABLE bench_due AS
    SELECT 'due_' || n AS id, now() + (n - 100) * interval '1 hour' AS due_at
    FROM generate_series(1, 100000) AS n;
CREATE INDEX ON bench_due (due_at);
"""
_BARE = "SELECT id FROM bench_due WHERE due_at <= %(now)s ORDER BY due_at LIMIT 200"
_LONG_AGO = (
    "SELECT id FROM bench_due WHERE due_at <= %(now)s::timestamptz - interval '1 year' LIMIT 200"
)
_TABLES = "balance, tenants_tenant, funding_autofundingconfig, funding_fundingtransaction"
_MINE = ("balance", "funding_autofundingconfig", "funding_fundingtransaction")

Search = Callable[[], Sequence[object]]


def measure(options: Options) -> Section:
    """Raises CannotMeasure."""
    seeding.require_own_database()
    few, many = options.scaled(1_000, 200), options.scaled(100_000, 2_000)
    _forget()
    database.execute(_BARE_TABLE)
    database.execute("VACUUM ANALYZE bench_due")
    source = seeding.customer().source.pk
    small = _runs(1, few, source)
    large = _runs(few + 1, many, source)
    _forget()
    text = (
        f"{DUE} tenants of {few:,}, then of {many:,}, are below their threshold, and {DUE} top-ups "
        "are to be handed to their network; every hundredth tenant is low and paused, every "
        "hundredth low with an automatic funding under way. Measured is how a sweep finds what is "
        f"due, {RUNS} times, not the work that would follow. Bare: an indexed query that returns "
        f"{DUE} due rows of 100,000, in turns with ours, prepared like ours. The auto-funding "
        "sweep searches twice (who is low; who recovered: nobody), so it is held against two bare "
        "queries: one for the due rows, one that finds nothing. What keeps a due top-up back (a "
        "suspended tenant, a switch, a hold) is asked by the claim, batch by batch."
    )
    return Section(
        "Sweeps", text, [figure for name in small for figure in _figures(name, small, large)]
    )


Runs = dict[str, tuple[list[float], list[float]]]


def _figures(name: str, small: Runs, large: Runs) -> list[Figure]:
    few, (all_of_them, bare) = small[name][0], large[name]
    return [
        Figure(name=f"{name}, all tenants", unit="ms", values=all_of_them),
        Figure(
            name=f"{name}: all tenants ÷ few",
            values=ratios(all_of_them, few),
            aim=1.5,
            at_most=True,
            note="(our own bound for “flat”)",
        ),
        Figure(
            name=f"{name} ÷ bare indexed query",
            values=ratios(all_of_them, bare),
            aim=3,
            at_most=True,
        ),
    ]


def _runs(first: int, last: int, source: str) -> Runs:
    """Milliseconds of each search and of the bare ones beside it."""
    span = {"first": first, "last": last}
    database.execute(_TENANTS, **span)
    database.execute(_CONFIGS, **span)
    database.execute(_BALANCES, **span)
    done = {"source": source, "status": "completed", "trigger": "topup"}
    database.execute(_FUNDINGS, **span, **done, kind="d", step=1)
    on_its_way = {"source": source, "status": "in_transit", "trigger": "auto_funding"}
    first_busy = -(-first // 100) * 100
    database.execute(_FUNDINGS, **on_its_way, kind="a", first=first_busy, last=last, step=100)
    database.execute(_CHANGE_DUE, due=DUE, available=100_000)
    auto_funding.sweep(now=utc_now())  # notes who is low and cannot fire for now
    database.execute(_CHANGE_DUE, due=DUE, available=0)
    if first == 1:
        topups = {"source": source, "status": "reserved", "trigger": "topup"}
        database.execute(_FUNDINGS, **topups, kind="t", first=1, last=DUE, step=1)
    database.execute(f"VACUUM ANALYZE {_TABLES}")
    return {
        "auto-funding sweep": _in_turns(_low, lambda: [*_bare(_BARE), *_bare(_LONG_AGO)]),
        "funding sweep": _in_turns(_reserved, lambda: _bare(_BARE)),
    }


def _low() -> Sequence[object]:
    return [*balances.recovered_tenants(), *balances.low_tenants(now=utc_now())]


def _reserved() -> Sequence[object]:
    return [
        pk
        for name in claims.networks(FUNDING)
        for pk in claims.due_ids(FUNDING, now=utc_now(), limit=submission.RUN_MAX, network=name)
    ]


def _bare(statement: str) -> Sequence[object]:
    return sql.rows(statement, {"now": utc_now()})


def _in_turns(ours: Search, bare: Search) -> tuple[list[float], list[float]]:
    """Milliseconds of each, after some to warm up. Raises CannotMeasure for a wrong number."""
    took: tuple[list[float], list[float]] = ([], [])
    for number in range(RUNS + 8):
        for search, times in zip((ours, bare), took, strict=True):
            began = time.perf_counter()
            found = search()
            if number >= 8:
                times.append((time.perf_counter() - began) * 1000)
            if len(found) != DUE:
                raise CannotMeasure(f"{len(found)} rows were found, not {DUE}")
    return took


def _forget() -> None:
    """Leave nothing of this part, and nothing due of the parts before."""
    database.execute("ALTER TABLE funding_fundingtransaction DISABLE TRIGGER USER")
    for table in _MINE:
        database.execute(f"DELETE FROM {table} WHERE tenant_id LIKE 'bench_sweep%'")  # noqa: S608
    database.execute("UPDATE funding_fundingtransaction SET next_attempt_at = NULL")
    database.execute("ALTER TABLE funding_fundingtransaction ENABLE TRIGGER USER")
    database.execute("DELETE FROM tenants_tenant WHERE id LIKE 'bench_sweep%'")
