"""Posting through `balance.services`, against what PostgreSQL allows and against peers.

Same server, in turns: the same statement under pgbench on the same tables with every constraint,
index and trigger; the least that still is a durable posting; django-hordak and django-ledger.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby

from benchmarks import books, clients, database, pgbench, processes, seeding
from benchmarks.clients import Crew
from benchmarks.errors import CannotMeasure
from benchmarks.figures import Figure, Section, ratios
from benchmarks.options import Options

FEW, MANY = 1_000, 100_000
# After that a client has written to nearly every page of so many balances and their lines.
MANY_WARM_SECONDS = 4


@dataclass(frozen=True, kw_only=True)
class Load:
    """How many clients post to how many of the tenants, and how many postings at once.

    The aims: the least shares of the rates of the two ceilings, the largest one of minimal's CPU;
    the most CPU (µs, clients and PostgreSQL) and WAL (bytes) of a posting. Sets have no "same".
    """

    name: str
    clients: int
    tenants: int = FEW
    posted_to: int | None = None
    at_once: int = 1
    of_same: float | None = None
    of_minimal: float | None = None
    of_minimal_cpu: float | None = None
    cpu_us: float
    wal: float = 1_250
    after_checkpoint: bool = False


LOADS = (
    Load(
        name="1 client, 1,000 tenants",
        cpu_us=300,
        clients=1,
        of_same=0.85,
        of_minimal=0.58,
        of_minimal_cpu=1.9,
    ),
    Load(
        name="4 clients, 1,000 tenants",
        cpu_us=450,
        clients=4,
        of_same=0.85,
        of_minimal=0.52,
        of_minimal_cpu=1.9,
        after_checkpoint=True,
    ),
    Load(
        name="4 clients, one hot tenant",
        cpu_us=600,
        clients=4,
        posted_to=1,
        of_same=1.0,
        of_minimal=0.8,
        of_minimal_cpu=1.9,
    ),
    Load(
        name="1 client, 1,000 tenants, sets of 50",
        cpu_us=100,
        clients=1,
        at_once=50,
        of_minimal=1.5,
        of_minimal_cpu=0.67,
    ),
    Load(
        name="4 clients, 1,000 tenants, sets of 50",
        cpu_us=125,
        clients=4,
        at_once=50,
        of_minimal=1.5,
        of_minimal_cpu=0.67,
    ),
    Load(
        name="4 clients, one hot tenant, sets of 50",
        cpu_us=100,
        clients=4,
        posted_to=1,
        at_once=50,
        of_minimal=1.5,
        of_minimal_cpu=0.67,
    ),
    Load(name="1 client, 100,000 tenants", cpu_us=300, clients=1, tenants=MANY, of_same=0.85),
    Load(
        name="4 clients, 100,000 tenants",
        cpu_us=450,
        clients=4,
        tenants=MANY,
        of_same=0.85,
        after_checkpoint=True,
    ),
    Load(
        name="4 clients, 100,000 tenants, sets of 50",
        cpu_us=125,
        clients=4,
        tenants=MANY,
        at_once=50,
        of_minimal=1.5,
        of_minimal_cpu=0.67,
    ),
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


@dataclass(frozen=True)
class Slice:
    """Postings per second; of each one the CPU, in µs, of client and server together, and the bytes
    of WAL."""

    rate: float
    cpu_us: float
    wal: float


@dataclass(frozen=True)
class Side:
    """One way to post, and the table that its lines are in. `act` returns postings per second."""

    act: Callable[[], float]
    table: str


def measure(options: Options) -> Section:
    """All loads, then the peers. Raises CannotMeasure."""
    seeding.require_own_database()
    figures: list[Figure] = []
    runs = iter(range(1_000, 9_000))
    for tenants, loads in groupby(LOADS, key=lambda load: load.tenants):
        count = options.scaled(tenants, FEW)
        books.start_over(count)
        for load in loads:
            figures += _under(load, count, options, runs.__next__)
        books.require_clean()
    figures += _commit(options)
    for peer in PEERS:
        figures += _against_peer(*peer, options=options)
    books.start_over(1)
    return Section("Posting", _TEXT.format(pairs=options.pairs, seconds=options.seconds), figures)


_TEXT = """{pairs} interleaved rounds of {seconds} s. Ours: one warm process per client that calls
`balance.services.credit`, one commit each; for sets `post_many`, one commit for 50 credits. "Same":
the very statement, `balance.posting.POST`, under pgbench, prepared. "Minimal": one update of a
balance and one insert of an entry in one statement, keys only, one commit each, under pgbench. All
on one unix socket; "same" and ours fill one table, minimal its own. Ids have 30 characters and grow
with time; each tenant has a line before. CPU: clients and PostgreSQL together. Rows are counted
after each slice and the full audit finds nothing at the end. Figures are of the long run: pages
were written to since the last checkpoint. Those "right after a checkpoint" begin with one. What a
commit costs says how far ratios to other statements can be compared between machines: where it
costs more, all of them are nearer to 1."""


def _under(load: Load, tenants: int, options: Options, next_run: Callable[[], int]) -> list[Figure]:
    """One load on the books as they are."""
    posted_to = load.posted_to or tenants
    prepared = ("benchmarks.books.prepare", posted_to, load.at_once)
    with clients.crew(*prepared, clients=load.clients) as crew:
        sides = _sides(load, posted_to, crew, options, next_run)
        if tenants == MANY:
            crew.rate(MANY_WARM_SECONDS)
        figures = _against_ceilings(load, sides, crew, options)
        if load.after_checkpoint:
            figures += _after_checkpoints(load, sides["ours"], crew, options)
    return figures


def _sides(
    load: Load, posted_to: int, crew: Crew, options: Options, next_run: Callable[[], int]
) -> dict[str, Side]:
    seconds = _seconds(options)

    def bench(script: str) -> float:
        variables = {"made": 0, "run": next_run(), "tenants": posted_to}
        return pgbench.rate(script, clients=load.clients, seconds=seconds, variables=variables)

    sides = {
        "same": Side(lambda: bench(books.same_statement()), books.POSTED),
        "ours": Side(lambda: crew.rate(seconds) * load.at_once, books.POSTED),
        "minimal": Side(lambda: bench(books.MINIMAL), books.MINIMAL_POSTED),
    }
    if load.at_once > 1:
        del sides["same"]
    return sides


def _seconds(options: Options) -> int:
    """Of a slice: pgbench knows whole ones only."""
    return max(1, int(options.seconds))


def _against_ceilings(
    load: Load, sides: dict[str, Side], crew: Crew, options: Options
) -> list[Figure]:
    found: dict[str, list[Slice]] = {name: [] for name in sides}
    for side in sides.values():  # whoever comes first after a checkpoint pays for all
        side.act()
    for number in range(options.pairs):
        for name in list(sides) if number % 2 == 0 else reversed(list(sides)):
            found[name].append(_slice(sides[name], crew, options))
        options.tell(f"{load.name}: round {number + 1} of {options.pairs}")
    return list(_figures(load, found))


def _figures(load: Load, found: dict[str, list[Slice]]) -> Iterator[Figure]:
    ours = found["ours"]
    rates = {name: [item.rate for item in slices] for name, slices in found.items()}
    aims = {"same": load.of_same, "minimal": load.of_minimal}
    for name, aim in aims.items():
        if name in rates:
            of_ceiling = ratios(rates["ours"], rates[name])
            yield Figure(name=f"{load.name}: ÷ {name}", values=of_ceiling, aim=aim)
    cpu = {name: [item.cpu_us for item in slices] for name, slices in found.items()}
    for name, most in (("same", None), ("minimal", load.of_minimal_cpu)):
        if name in cpu:
            of_ceiling = ratios(cpu["ours"], cpu[name])
            yield Figure(
                name=f"{load.name}: CPU ÷ {name}'s", values=of_ceiling, aim=most, at_most=True
            )
    costs = (
        ("CPU per posting", "µs", cpu["ours"], load.cpu_us),
        ("WAL per posting", "bytes", [item.wal for item in ours], load.wal),
    )
    for what, unit, values, aim in costs:
        yield Figure(
            name=f"{load.name}: {what}",
            unit=unit,
            values=values,
            aim=aim,
            at_most=True,
            note=_OUR_OWN,
        )
    yield Figure(name=f"{load.name}: postings/s", values=rates["ours"])


_OUR_OWN = "(our own bound)"


def _after_checkpoints(load: Load, ours: Side, crew: Crew, options: Options) -> Iterator[Figure]:
    """Slices that begin with a checkpoint, each beside one of the long run right before it."""
    long: list[Slice] = []
    after: list[Slice] = []
    for _ in range(options.pairs):
        if load.tenants == MANY:
            ours.act()
            ours.act()
        long.append(_slice(ours, crew, options))
        database.execute("CHECKPOINT")
        after.append(_slice(ours, crew, options))
    rates = ratios([item.rate for item in after], [item.rate for item in long])
    name = f"{load.name}, right after a checkpoint"
    yield Figure(name=f"{name}: WAL per posting", unit="bytes", values=[item.wal for item in after])
    yield Figure(name=f"{name}: postings/s ÷ the long run", values=rates)
    yield Figure(name=f"{name}: postings/s", values=[item.rate for item in after])


def _slice(side: Side, crew: Crew, options: Options) -> Slice:
    """Run once. The rows must be there: a rate of anything else is no rate.

    Half of them will do: pgbench's own rate leaves out the time it needed to connect.
    """
    postmaster, count = processes.database_pid(), f"SELECT count(*) FROM {side.table}"  # noqa: S608  # our own names
    rows, wal, cpu = database.scalar(count), _wal(), _cpu(crew, postmaster)
    rate = side.act()
    spent, written = _cpu(crew, postmaster) - cpu, _wal() - wal
    made = database.scalar(count) - rows
    if not rate > 0 or made < rate * _seconds(options) / 2:
        raise CannotMeasure(f"{made} rows were posted, {rate * _seconds(options):.0f} reported")
    return Slice(rate=rate, cpu_us=spent / made * 1e6, wal=written / made)


def _cpu(crew: Crew, postmaster: int) -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    pgbench_cpu = ended.ru_utime + ended.ru_stime
    return crew.cpu_seconds() + pgbench_cpu + processes.database_cpu_seconds(postmaster)


def _wal() -> int:
    """Bytes of WAL that the server has written so far."""
    return database.scalar("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")


def _commit(options: Options) -> list[Figure]:
    """What one client waits for the disk at each commit: the minimal posting with that wait and
    without, in turns."""
    waits = []
    books.start_over(FEW)

    def microseconds(settings: str) -> float:
        rate = pgbench.rate(
            books.MINIMAL,
            clients=1,
            seconds=_seconds(options),
            variables={"tenants": FEW},
            settings=settings,
        )
        return 1e6 / rate

    for _ in range(options.pairs):
        waits.append(microseconds("") - microseconds("-c synchronous_commit=off"))
    return [Figure(name="a commit's wait for the disk, 1 client", unit="µs", values=waits)]


def _against_peer(
    name: str, module: str, arguments: tuple[int, ...], apps: str, aim: float, *, options: Options
) -> list[Figure]:
    """One client of the peer against one of ours, in turns."""
    books.start_over(FEW)
    ours: list[float] = []
    theirs: list[float] = []
    if options.quick:
        arguments = tuple(min(number, 1_000) for number in arguments)
    with (
        clients.crew("benchmarks.books.prepare", FEW, 1, clients=1) as crew,
        clients.outside(module, *arguments, apps=apps) as peer,
    ):
        crew.rate(options.seconds)  # warm, as the peer is
        for _ in range(options.pairs):
            ours.append(crew.rate(options.seconds))
            theirs.append(peer.rate(options.seconds))
    options.tell(f"{name}: {ours[-1]:.0f}/s against {theirs[-1]:.1f}/s")
    return [
        Figure(name=f"1 client: ÷ {name}", values=ratios(ours, theirs), aim=aim),
        Figure(name=f"{name}: postings/s", values=theirs),
    ]
