"""What the wall of row level security costs (decision 0167): requests under the API's login against
the same requests under the product's own role, in one run, on the same tables."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass

from django.conf import settings
from django.db import connection, transaction

from balance import services as ledger
from benchmarks import books, clients, database, load, processes, seeding
from benchmarks.api import CONNECTIONS, WARM_SECONDS
from benchmarks.api import requests as hot_requests
from benchmarks.clients import Crew
from benchmarks.errors import CannotMeasure
from benchmarks.figures import Figure, Section, ratios
from benchmarks.load import Request, Turns
from benchmarks.options import Options
from benchmarks.processes import Server
from benchmarks.seeding import Customer
from common.clock import utc_now
from common.database import doors
from networks.bank_details import BankDetails
from payments.services import recipients
from tenants.actors import SYSTEM

AIM = 0.95
ROUNDS = 9
# A round is so many short slices of each side, in turns: what else the machine does falls on all.
SLICES = 10
TENANTS = 8
HISTORY = 400
POSTED_TO = 1_000
POSTING_CLIENTS = 2
# Two servers without the wall differ by what else the machine does.
WITH, WITHOUT, AGAIN = "with", "without", "again"
_ENVIRONMENTS: Mapping[str, Mapping[str, str]] = {
    WITH: {},
    WITHOUT: {"DATABASE_API_URL": ""},
    AGAIN: {"DATABASE_API_URL": ""},
}


@dataclass(frozen=True)
class Sample:
    """One slice or several: operations per second, and CPU microseconds of each operation, ours and
    PostgreSQL's."""

    rate: float
    ours_us: float
    database_us: float

    @property
    def cpu_us(self) -> float:
        return self.ours_us + self.database_us

    @classmethod
    def of(cls, slices: Sequence[Sample]) -> Sample:
        """All of these together, which took equally long."""
        rates = [each.rate for each in slices]

        def mean(values: Iterable[float]) -> float:
            """Of an operation: a slice counts by how many it had."""
            pairs = zip(values, rates, strict=True)
            return sum(value * rate for value, rate in pairs) / sum(rates)

        return cls(
            rate=sum(rates) / len(rates),
            ours_us=mean(each.ours_us for each in slices),
            database_us=mean(each.database_us for each in slices),
        )


Side = Callable[[], Sample]


def measure(options: Options) -> Section:
    """Raises CannotMeasure."""
    seeding.require_own_database()
    if not settings.DATABASE_API:
        raise CannotMeasure("DATABASE_API_URL is not set, so there is no wall")
    rounds = options.scaled(max(options.pairs, ROUNDS), 1)
    figures = [*_postings(rounds, options), *_requests(rounds, options)]
    text = _TEXT.format(rounds=rounds, seconds=options.seconds, tenants=TENANTS)
    return Section("Wall", text, figures)


_TEXT = """{rounds} rounds of {seconds} s of each of three sides on one database, which take turns
ten times in a round: *with* the wall (the API's login, told its tenant with each transaction),
*without* (the product's own role, DATABASE_API_URL empty), and *without* once more, which shows how
far two equal sides differ here.
Requests: 8 kept connections, gunicorn with 2 workers of 4 threads for each side, {tenants} tenants
in turns, tables analyzed. Postings: 2 warm processes per side that call `balance.services.credit`,
each in a transaction of its own, 1,000 tenants. CPU: of the server (or the clients) and of
PostgreSQL together, per operation. It decides, because what else the machine does touches it less
than the rate; above 1 the wall costs nothing."""


# --- Postings


def prepare_with(number: int, tenants: int) -> Callable[[], object]:
    """A client's operation: a posting as in a request, which sees one tenant."""
    draw = books.drawing(number, tenants)

    def post() -> None:
        given = draw()
        with doors.of_tenant(given["tenant_id"], only_reads=False), transaction.atomic():
            ledger.credit(**given, now=utc_now())

    return post


def prepare_without(number: int, tenants: int) -> Callable[[], object]:
    """The same under the product's own role. At its end the connection is made to be checked
    before its next use, as Django does and as the door of the other side does."""
    draw = books.drawing(number, tenants)

    def post() -> None:
        with transaction.atomic():
            ledger.credit(**draw(), now=utc_now())
        connection.close_if_unusable_or_obsolete()

    return post


def _postings(rounds: int, options: Options) -> Iterator[Figure]:
    tenants = options.scaled(POSTED_TO, 20)
    books.start_over(tenants)
    postmaster = processes.database_pid()
    with ExitStack() as stack:
        sides = {
            name: crew_side(
                stack.enter_context(
                    clients.crew(
                        f"benchmarks.wall.prepare_{name if name == WITH else WITHOUT}",
                        tenants,
                        clients=POSTING_CLIENTS,
                    )
                ),
                postmaster,
                options,
            )
            for name in _ENVIRONMENTS
        }
        for side in sides.values():  # until each client is ready and warm
            side()
        yield from _figures("posting", in_turns("posting", sides, rounds, options))
    books.require_clean()
    books.start_over(1)


def crew_side(crew: Crew, postmaster: int, options: Options) -> Side:
    def slice_of_it() -> Sample:
        ours, theirs = crew.cpu_seconds(), processes.database_cpu_seconds(postmaster)
        rate = crew.rate(options.seconds / SLICES)
        done = rate * options.seconds / SLICES
        if not done:
            raise CannotMeasure("nothing was posted")
        return Sample(
            rate,
            ours_us=(crew.cpu_seconds() - ours) / done * 1e6,
            database_us=(processes.database_cpu_seconds(postmaster) - theirs) / done * 1e6,
        )

    return slice_of_it


# --- Requests


def _requests(rounds: int, options: Options) -> Iterator[Figure]:
    customers = [_customer() for _ in range(options.scaled(TENANTS, 2))]
    turns = _turns(customers)
    postmaster = processes.database_pid()
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(_server(name, environment))
            for name, environment in _ENVIRONMENTS.items()
        }
        database.execute("VACUUM ANALYZE")
        for name, asked in turns.items():
            sides = {
                each: _server_side(server, asked, postmaster, options)
                for each, server in servers.items()
            }
            for server in servers.values():
                load.run(server.port, asked, connections=CONNECTIONS, seconds=WARM_SECONDS)
            yield from _figures(name, in_turns(name, sides, rounds, options))


def _server(name: str, environment: Mapping[str, str]) -> AbstractContextManager[Server]:
    port = processes.free_port()
    command = processes.gunicorn(port)
    return processes.program(command, name=f"web-{name}", port=port, environment=environment)


def _customer() -> tuple[Customer, str]:
    """A new one with a history and money, and a recipient of its own."""
    made = seeding.customer()
    seeding.history(made.tenant.pk, HISTORY)
    account: BankDetails = {
        "account_number": "000123456789",
        "routing_number": "021000021",
        "holder_name": "Supplier LLC",
        "holder_type": "business",
        "account_type": "checking",
    }
    saved = recipients.save(tenant_id=made.tenant.pk, details=account, actor=SYSTEM, now=utc_now())
    return made, saved.pk


def _turns(customers: Sequence[tuple[Customer, str]]) -> dict[str, Turns]:
    """Each kind of request, of one tenant after the other."""
    kinds: dict[str, list[Request]] = {}
    for customer, recipient in customers:
        asked = hot_requests(customer) | {"payment": _payment(customer, recipient)}
        for name, request in asked.items():
            kinds.setdefault(name, []).append(request)
    return {name: Turns(asked) for name, asked in kinds.items()}


def _payment(customer: Customer, recipient: str) -> Request:
    """An order, which sets one cent aside."""
    return Request(
        method="POST",
        path="/api/v1/payments",
        key=customer.key,
        status=201,
        body=json.dumps({"amount": 1, "recipientId": recipient}).encode,
        headers=lambda: f"Idempotency-Key: {secrets.token_hex(12)}\r\n",
    )


def _server_side(server: Server, asked: Turns, postmaster: int, options: Options) -> Side:
    def slice_of_it() -> Sample:
        ours, theirs = server.cpu_seconds(), processes.database_cpu_seconds(postmaster)
        seconds = options.seconds / SLICES
        done = load.run(server.port, asked, connections=CONNECTIONS, seconds=seconds)
        count = len(done.times)
        return Sample(
            done.rate,
            ours_us=(server.cpu_seconds() - ours) / count * 1e6,
            database_us=(processes.database_cpu_seconds(postmaster) - theirs) / count * 1e6,
        )

    return slice_of_it


# --- Both


def in_turns(
    what: str, sides: Mapping[str, Side], rounds: int, options: Options
) -> dict[str, list[Sample]]:
    """Samples of each side; whoever comes first in one turn comes last in the next."""
    found: dict[str, list[Sample]] = {name: [] for name in sides}
    for number in range(rounds):
        for name, slices in _round(sides).items():
            found[name].append(Sample.of(slices))
        options.tell(f"{what}: round {number + 1} of {rounds}")
    return found


def _round(sides: Mapping[str, Side]) -> dict[str, list[Sample]]:
    names = list(sides)
    found: dict[str, list[Sample]] = {name: [] for name in names}
    for number in range(SLICES):
        first = number % len(names)
        turns = names[first:] + names[:first]
        for name in turns if number % 2 == 0 else reversed(turns):
            found[name].append(sides[name]())
    return found


def _figures(what: str, found: Mapping[str, Sequence[Sample]]) -> list[Figure]:
    walled, plain, again = found[WITH], found[WITHOUT], found[AGAIN]
    costs = {name: [item.cpu_us for item in samples] for name, samples in found.items()}
    rates = {name: [item.rate for item in samples] for name, samples in found.items()}
    theirs = [[item.database_us for item in samples] for samples in (plain, walled)]
    ours = [[item.ours_us for item in samples] for samples in (plain, walled)]
    without_with, same = f"{what}: CPU without ÷ with", f"{what}: CPU without ÷ without"
    figures = [
        Figure(name=without_with, values=ratios(costs[WITHOUT], costs[WITH]), aim=AIM),
        Figure(name=same, values=ratios(costs[WITHOUT], costs[AGAIN])),
        Figure(name=f"{what}: PostgreSQL's CPU without ÷ with", values=ratios(*theirs)),
        Figure(name=f"{what}: our own CPU without ÷ with", values=ratios(*ours)),
        Figure(
            name=f"{what}: a second, with ÷ without", values=ratios(rates[WITH], rates[WITHOUT])
        ),
        Figure(
            name=f"{what}: a second, without ÷ without", values=ratios(rates[AGAIN], rates[WITHOUT])
        ),
    ]
    sides = {WITH: walled, WITHOUT: [*plain, *again]}
    return (
        figures
        + [
            Figure(
                name=f"{what}: CPU {name}, PostgreSQL's part of it",
                unit="µs",
                values=[item.database_us for item in samples],
            )
            for name, samples in sides.items()
        ]
        + [
            Figure(name=f"{what}: CPU {name}", unit="µs", values=[item.cpu_us for item in samples])
            for name, samples in sides.items()
        ]
    )
