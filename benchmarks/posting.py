"""Posting through `balance.services`, against what PostgreSQL allows and against peers.

Same server, in turns: the same statement under pgbench on the same tables with every constraint,
index and trigger; the least that still is a durable posting; django-hordak and django-ledger.
"""

from __future__ import annotations

import random
import re
import resource
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from balance import chains
from balance import services as ledger
from balance.kinds import PostingType
from balance.posting import POST
from balance.sets import Entry
from benchmarks import clients, database, pgbench, processes, seeding
from benchmarks.clients import Crew
from benchmarks.errors import CannotMeasure
from benchmarks.figures import Figure, Section, ratios
from benchmarks.options import Options
from common import ids
from common.audits import Scope
from common.clock import utc_now

TENANTS = 1_000


@dataclass(frozen=True)
class Load:
    """How many clients post to how many tenants, and how many postings at once; the least shares of
    the rates of the two ceilings, the largest one of minimal's CPU. Sets have no "same"."""

    name: str
    clients: int
    tenants: int
    of_same: float
    of_minimal: float
    cpu: float = 1.9
    at_once: int = 1


LOADS = (
    Load("1 client, 1,000 tenants", 1, TENANTS, 0.85, 0.58),
    Load("4 clients, 1,000 tenants", 4, TENANTS, 0.8, 0.52),
    Load("4 clients, one hot tenant", 4, 1, 1.0, 0.8),
    Load("1 client, 1,000 tenants, sets of 50", 1, TENANTS, 0, 1.5, cpu=0.67, at_once=50),
    Load("4 clients, 1,000 tenants, sets of 50", 4, TENANTS, 0, 1.5, cpu=0.67, at_once=50),
    Load("4 clients, one hot tenant, sets of 50", 4, 1, 0, 1.5, cpu=0.67, at_once=50),
)
# What, its module, arguments and apps, and how many times faster ours has to be.
PEERS = (
    ("django-hordak", "hordak_peer", (0,), "hordak", 3.0),
    (
        "django-hordak behind a balance of 100,000 entries",
        "hordak_peer",
        (100_000,),
        "hordak",
        40.0,
    ),
    ("django-ledger", "ledger_peer", (), "django_ledger", 15.0),
)

_TENANTS = """
INSERT INTO tenants_tenant (id, name, mode, status, created_at)
SELECT number::text, 'Benchmark', 'sandbox', 'active', now()
FROM generate_series(1, %(count)s) AS number
ON CONFLICT DO NOTHING
"""
_BALANCES = """
INSERT INTO balance (id, tenant_id, currency, available, pending, locked, sequence)
SELECT 'bal_' || number, number::text, 'USD', 0, 0, 0, 0
FROM generate_series(1, %(count)s) AS number
"""
_POSTED = "balance_transaction"
# No posting here has a funding behind it.
_WITHOUT_FUNDING = "funding_posting_orphan"
_MINIMAL_TABLES = """
DROP TABLE IF EXISTS bench_entry, bench_balance;
CREATE TABLE bench_balance (tenant_id bigint PRIMARY KEY, available bigint NOT NULL,
    sequence bigint NOT NULL) WITH (fillfactor = 50);
CREATE TABLE bench_entry (tenant_id bigint, sequence bigint, amount bigint NOT NULL,
    available_after bigint NOT NULL, PRIMARY KEY (tenant_id, sequence));
INSERT INTO bench_balance SELECT number, 0, 0 FROM generate_series(1, 1000) AS number
"""
_MINIMAL = """
\\set tenant random(1, :tenants)
\\set amount random(1, 50000)
WITH moved AS (
    UPDATE bench_balance SET available = available + :amount, sequence = sequence + 1
    WHERE tenant_id = :tenant RETURNING tenant_id, sequence, available
)
INSERT INTO bench_entry SELECT tenant_id, sequence, :amount, available FROM moved;
"""

# Ids that count up per client, as ours do in time; amounts and tenants at random.
_SCRIPT = """
\\set made :made + 1
\\set id :run * 1000000000000 + :client_id * 1000000000 + :made
\\set tenant random(1, :tenants)
\\set amount random(1, 50000)
{statement};
"""
_IN_PGBENCH = {
    "id": ":id::text",
    "tenant_id": ":tenant::text",
    "type": "'credit'",
    "amount": ":amount",
    "pending_delta": "0",
    "source_type": "'funding_transaction'",
    "source_id": ":id::text",
    "description": "'Benchmark'",
    "now": "now()",
}


@dataclass(frozen=True)
class Slice:
    """Postings per second, and CPU milliseconds per posting of client and server together."""

    rate: float
    cpu_ms: float


def measure(options: Options) -> Section:
    """All loads, then the peers. Raises CannotMeasure."""
    seeding.require_own_database()
    figures: list[Figure] = []
    runs = iter(range(1_000, 9_000))
    for load in LOADS:
        _start_over()
        prepared = ("benchmarks.posting.prepare", load.tenants, load.at_once)
        with clients.crew(*prepared, clients=load.clients) as crew:
            figures += _against_ceilings(load, crew, options, runs.__next__)
        _require_clean_ledger()
    for peer in PEERS:
        figures += _against_peer(*peer, options=options)
    _start_over()
    return Section("Posting", _TEXT.format(pairs=options.pairs, seconds=options.seconds), figures)


_TEXT = """{pairs} interleaved rounds of {seconds} s. Ours: one warm process per client that calls
`balance.services.credit`, one commit each; for sets `post_many`, one commit for 50 credits. "Same":
the very statement, `balance.posting.POST`, under pgbench, prepared. "Minimal": one update of a
balance and one insert of an entry in one statement, keys only, one commit each, under pgbench. All
on one unix socket; "same" and ours fill one table, minimal its own. CPU: clients and PostgreSQL
together. Rows are counted after each slice and the full audit finds nothing at the end."""


def _against_ceilings(
    load: Load, crew: Crew, options: Options, next_run: Callable[[], int]
) -> list[Figure]:
    seconds = max(1, int(options.seconds))

    def bench(script: str) -> float:
        variables = {"made": 0, "run": next_run(), "tenants": load.tenants}
        return pgbench.rate(script, clients=load.clients, seconds=seconds, variables=variables)

    sides: dict[str, Callable[[], float]] = {
        "same": lambda: bench(_script()),
        "ours": lambda: crew.rate(seconds) * load.at_once,
        "minimal": lambda: bench(_MINIMAL),
    }
    if load.at_once > 1:
        del sides["same"]
    tables = {"same": _POSTED, "ours": _POSTED, "minimal": "bench_entry"}
    found: dict[str, list[Slice]] = {name: [] for name in sides}
    for act in sides.values():  # whoever comes first after a checkpoint pays for all
        act()
    for number in range(options.pairs):
        for name in list(sides) if number % 2 == 0 else reversed(list(sides)):
            found[name].append(_slice(sides[name], crew, tables[name], seconds))
        options.tell(f"{load.name}: round {number + 1} of {options.pairs}")
    return _figures(load, found)


def _figures(load: Load, found: dict[str, list[Slice]]) -> list[Figure]:
    rates = {name: [item.rate for item in slices] for name, slices in found.items()}
    cpu = [
        mine.cpu_ms / least.cpu_ms
        for mine, least in zip(found["ours"], found["minimal"], strict=True)
    ]
    aims = {"same": load.of_same, "minimal": load.of_minimal}
    of_ceilings = [
        Figure(name=f"{load.name}: ÷ {name}", values=ratios(rates["ours"], rates[name]), aim=aim)
        for name, aim in aims.items()
        if name in rates
    ]
    return [
        *of_ceilings,
        Figure(name=f"{load.name}: CPU ÷ minimal's", values=cpu, aim=load.cpu, at_most=True),
        Figure(name=f"{load.name}: postings/s", values=rates["ours"]),
    ]


def _slice(act: Callable[[], float], crew: Crew, table: str, seconds: int) -> Slice:
    """Run once. The rows must be there: a rate of anything else is no rate.

    Half of them will do: pgbench's own rate leaves out the time it needed to connect.
    """
    postmaster = processes.database_pid()
    rows, cpu = database.scalar(f"SELECT count(*) FROM {table}"), _cpu(crew, postmaster)  # noqa: S608
    rate = act()
    spent = _cpu(crew, postmaster) - cpu
    made = database.scalar(f"SELECT count(*) FROM {table}") - rows  # noqa: S608  # our own names
    if not rate > 0 or made < rate * seconds / 2:
        raise CannotMeasure(f"{made} rows were posted, {rate * seconds:.0f} were reported")
    return Slice(rate=rate, cpu_ms=spent / made * 1000)


def _cpu(crew: Crew, postmaster: int) -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    pgbench_cpu = ended.ru_utime + ended.ru_stime
    return crew.cpu_seconds() + pgbench_cpu + processes.database_cpu_seconds(postmaster)


def _against_peer(
    name: str, module: str, arguments: tuple[int, ...], apps: str, aim: float, *, options: Options
) -> list[Figure]:
    """One client of the peer against one of ours; some pairs are enough for such ratios."""
    _start_over()
    ours: list[float] = []
    theirs: list[float] = []
    if options.quick:
        arguments = tuple(min(number, 1_000) for number in arguments)
    with (
        clients.crew("benchmarks.posting.prepare", TENANTS, 1, clients=1) as crew,
        clients.outside(module, *arguments, apps=apps) as peer,
    ):
        crew.rate(options.seconds)  # warm, as the peer is
        for _ in range(min(options.pairs, 3)):
            ours.append(crew.rate(options.seconds))
            theirs.append(peer.rate(options.seconds))
    options.tell(f"{name}: {ours[-1]:.0f}/s against {theirs[-1]:.1f}/s")
    return [
        Figure(name=f"1 client: ÷ {name}", values=ratios(ours, theirs), aim=aim),
        Figure(name=f"{name}: postings/s", values=theirs),
    ]


def prepare(number: int, tenant_count: int, at_once: int = 1) -> Callable[[], object]:
    """One client's operation: a credit of a random amount to a random tenant, or a set of them."""
    chance = random.Random(number)  # noqa: S311  # which tenant is no secret

    def draw() -> dict[str, Any]:
        return {
            "tenant_id": str(chance.randint(1, tenant_count)),
            "amount": chance.randint(1, 50_000),
            "source_type": "funding_transaction",
            "source_id": ids.new("ftx"),
            "description": "Benchmark",
        }

    def post() -> None:
        ledger.credit(**draw(), now=utc_now())

    def post_set() -> None:
        entries = [Entry(PostingType.CREDIT, **draw()) for _ in range(at_once)]
        ledger.post_many(entries, now=utc_now())

    return post if at_once == 1 else post_set


def _script() -> str:
    statement = re.sub(r"%\((\w+)\)s", lambda match: _IN_PGBENCH[match[1]], POST)
    return _SCRIPT.format(statement=statement.strip())


def _start_over() -> None:
    database.empty("balance_transaction", "balance", "balance_checkpoint")
    database.execute(_TENANTS, count=TENANTS)
    database.execute(_BALANCES, count=TENANTS)
    database.execute(_MINIMAL_TABLES)
    database.execute("VACUUM ANALYZE balance, tenants_tenant, bench_balance")
    database.execute("CHECKPOINT")


def _require_clean_ledger() -> None:
    found = chains.check(Scope(full=True), now=utc_now())
    if findings := [finding for finding in found if finding.code != _WITHOUT_FUNDING]:
        raise CannotMeasure(f"the ledger is not clean: {findings[0]}")
