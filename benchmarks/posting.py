"""Posting through `balance.services` against the same statement under pgbench.

Same server, same schema with every constraint, index and trigger, same tenants; in turns. What is
missing from 1 is what Python, Django and psycopg cost.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db import connection

from balance import chains
from balance import services as ledger
from balance.findings import Scope
from balance.posting import POST
from benchmarks import clients, harness, machine, pgbench, results
from benchmarks.clients import Crew
from benchmarks.errors import CannotMeasure
from benchmarks.harness import Case
from common import ids
from common.clock import utc_now
from tenants import selectors as tenants

TENANTS = 1_000


@dataclass(frozen=True)
class Load:
    """How many clients post to how many tenants, and the least ratio that will do."""

    name: str
    clients: int
    tenants: int
    aim: float | None = None


LOADS = (
    Load("1 client, 1,000 tenants", 1, TENANTS),
    Load("4 clients, 1,000 tenants", 4, TENANTS, aim=0.6),
    Load("4 clients, one busy tenant", 4, 1),
)

_EMPTY = "TRUNCATE balance_transaction, balance, balance_checkpoint"
_TENANTS = """
INSERT INTO tenants_tenant (id, name, mode, status, created_at)
SELECT number::text, 'Benchmark', 'sandbox', 'active', now()
FROM generate_series(1, %s) AS number
ON CONFLICT DO NOTHING
"""
_BALANCES = """
INSERT INTO balance (id, tenant_id, currency, available, pending, locked, sequence)
SELECT 'bal_' || number, number::text, 'USD', 0, 0, 0, 0
FROM generate_series(1, %s) AS number
"""
_COUNT = "SELECT count(*) FROM balance_transaction"

# Ids that count up per client, as ours do in time; amounts and tenants at random.
_SCRIPT = """
\\set made :made + 1
\\set id :run * 1000000000000 + :client_id * 1000000000 + :made
\\set tenant random(1, :tenants)
\\set amount random(1, 50000)
{statement};
"""
_IN_PGBENCH = {
    "id": ":id",
    "tenant_id": ":tenant",
    "type": "'credit'",
    "amount": ":amount",
    "currency": "'USD'",
    "available_delta": ":amount",
    "locked_delta": "0",
    "pending_delta": "0",
    "source_type": "'funding_transaction'",
    "source_id": ":id",
    "description": "'Benchmark'",
    "now": "now()",
}


def main(*, pairs: int, seconds: int, tell: Callable[[str], None]) -> bool:
    """Measure, print, write RESULTS.md. False when an aim is missed. Raises CannotMeasure."""
    machine.require_durable_server()
    _refuse_other_peoples_data()
    runs = iter(range(1_000, 9_000))
    outcomes = []
    for load in LOADS:
        _start_over()
        with clients.crew("benchmarks.posting.prepare", load.tenants, clients=load.clients) as crew:
            case = _case(load, crew, seconds, runs.__next__)
            outcomes.append(harness.run(case, pairs=pairs, tell=tell))
        _require_clean_ledger()
    text = harness.table(outcomes, ceiling="pgbench", subject="balance.services")
    tell(text)
    head = f"{machine.description()}.\n{_method(pairs, seconds)}"
    results.write_section("Posting", f"{head}\n\n{text}")
    return all(outcome.meets_aim for outcome in outcomes)


def _method(pairs: int, seconds: int) -> str:
    return (
        f"{pairs} interleaved pairs of {seconds} s. Both sides run `balance.posting.POST`, "
        "server-side prepared, one commit each; ours from one process per client."
    )


def _case(load: Load, crew: Crew, seconds: int, next_run: Callable[[], int]) -> Case:
    def ceiling() -> float:
        variables = {"made": 0, "run": next_run(), "tenants": load.tenants}
        return pgbench.rate(_script(), clients=load.clients, seconds=seconds, variables=variables)

    def subject() -> float:
        return crew.rate(seconds)

    return Case(
        name=load.name,
        ceiling=_counted(ceiling, seconds),
        subject=_counted(subject, seconds),
        aim=load.aim,
    )


def _counted(measure: Callable[[], float], seconds: int) -> Callable[[], float]:
    """The rows must be there: a rate of anything else is no rate.

    Half of them will do: pgbench's own rate leaves out the time it needed to connect.
    """

    def run() -> float:
        before = _rows()
        rate = measure()
        made = _rows() - before
        if made < rate * seconds / 2:
            raise CannotMeasure(f"{made} rows were posted, {rate * seconds:.0f} were reported")
        return rate

    return run


def prepare(number: int, tenant_count: int) -> Callable[[], object]:
    """One client's operation: a credit of a random amount to a random tenant."""
    chance = random.Random(number)  # noqa: S311  # which tenant is no secret

    def post() -> None:
        ledger.credit(
            tenant_id=str(chance.randint(1, tenant_count)),
            amount=chance.randint(1, 50_000),
            source_type="funding_transaction",
            source_id=ids.new("ftx"),
            description="Benchmark",
            now=utc_now(),
        )

    return post


def _script() -> str:
    statement = re.sub(r"%\((\w+)\)s", lambda match: _IN_PGBENCH[match[1]], POST)
    return _SCRIPT.format(statement=statement.strip())


def _refuse_other_peoples_data() -> None:
    known: Sequence[str] = tenants.ids_after("", limit=1)
    if known and not known[0].isdigit():
        raise CannotMeasure("This database has tenants: a benchmark empties the ledger.")


def _start_over() -> None:
    with connection.cursor() as cursor:
        cursor.execute(_EMPTY)
        cursor.execute(_TENANTS, [TENANTS])
        cursor.execute(_BALANCES, [TENANTS])
        cursor.execute("VACUUM ANALYZE balance, tenants_tenant")
        cursor.execute("CHECKPOINT")


def _rows() -> int:
    with connection.cursor() as cursor:
        cursor.execute(_COUNT)
        return int(cursor.fetchone()[0])


def _require_clean_ledger() -> None:
    if findings := chains.check(Scope(full=True), now=utc_now()):
        raise CannotMeasure(f"the ledger is not clean: {findings[0]}")
