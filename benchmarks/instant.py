"""How soon an instant payment is at its network: from the order by the API until the operator has
taken the message, beside what the same operator takes of a participant that does nothing else."""

from __future__ import annotations

import http.client
import statistics
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from balance import services
from benchmarks import database, instant_line, seeding, stack, stream
from benchmarks.errors import CannotMeasure
from benchmarks.figures import Figure, Section, ratios
from benchmarks.instant_line import AMOUNT, PAYEE, Bare, Operator, operator
from benchmarks.options import Options
from benchmarks.seeding import Customer
from benchmarks.stream import Stream
from common import audits
from common.audits import Scope
from common.clock import utc_now
from networks.bank_details import BankDetails
from payments.services import recipients
from tenants.actors import SYSTEM

A_SECOND, A_SECOND_QUICK = 50, 5
THREADS = 16  # in which a worker hands messages over (networks.instant.sending)
END_SECONDS = 60.0
MONEY = 100_000_000
_AIM_MS = 1_000
_OPEN = "SELECT count(*) FROM payments_payment WHERE status IN ('created', 'processing')"
_TEXT = """{pairs} times, in turns: {seconds} s of {a_second} payments a second by the API, by the
method `rtp`, of {tenants} tenants; and bare participants. Web (2 processes of 4 threads), worker (2
processes), beat and dispatcher; each side has a stand-in operator of FedNow of its own, a process
on the same machine, over HTTPS with mutual TLS. Handed over: from before the request to the API is
sent until the operator has written the payment into its record. Bare: the same message, written and
sent over the same transport without the product, at the same pace. The operator's ceiling:
{threads} threads of that, without a pace."""


class Percentiles(NamedTuple):
    """Of a slice, in milliseconds."""

    p50: float
    p99: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Percentiles:
        cuts = statistics.quantiles(values, n=100, method="inclusive")
        return cls(cuts[49], cuts[98])


@dataclass
class Found:
    """What the slices of either side came to."""

    ours: list[Percentiles] = field(default_factory=list)
    bare: list[Percentiles] = field(default_factory=list)
    ceilings: list[float] = field(default_factory=list)


@dataclass
class Orders:
    """When each payment was ordered, by its id; `recipients` by their tenants."""

    operator: Operator
    recipients: dict[str, str]
    began: dict[str, datetime] = field(default_factory=dict)

    def place(self, connection: http.client.HTTPConnection, customer: Customer) -> None:
        """Raises CannotMeasure when it is refused."""
        wanted = {
            "amount": AMOUNT,
            "recipientId": self.recipients[customer.tenant.pk],
            "method": "rtp",
        }
        now = utc_now()
        answer = stream.post(connection, customer, "/api/v1/payments", wanted)
        self.began[answer["data"]["id"]] = now


def measure(options: Options) -> Section:
    """Raises CannotMeasure."""
    seeding.require_own_database()
    seconds, tenants = options.scaled(12, 4), options.scaled(100, 10)
    pace = options.scaled(A_SECOND, A_SECOND_QUICK)
    with operator("operator") as ours, operator("bare-operator") as other:
        instant_line.connect(ours)
        customers = [seeding.customer() for _ in range(tenants)]
        orders = Orders(ours, {each.tenant.pk: _payee(each) for each in customers})
        database.execute("VACUUM ANALYZE")
        found = Found()
        with stack.running() as product, closing(Bare(other)) as bare:
            _warm_up(product.port, customers, orders)
            for _ in range(options.pairs):
                found.ours.append(_ordered(product.port, customers, orders, seconds, pace))
                found.bare.append(_paced(bare, seconds // 3, pace))
                found.ceilings.append(_ceiling(bare, options.scaled(3, 1)))
    _require_sound(customers)
    text = _TEXT.format(
        pairs=options.pairs, seconds=seconds, a_second=pace, tenants=tenants, threads=THREADS
    )
    return Section("Instant", text, _figures(found, pace))


def _payee(customer: Customer) -> str:
    """A saved recipient, and money for its payments."""
    now = utc_now()
    details = BankDetails(
        account_number=PAYEE.account_number,
        routing_number=PAYEE.routing_number,
        holder_name=PAYEE.name,
        holder_type="business",
        account_type="checking",
    )
    tenant_id = customer.tenant.pk
    services.adjust(
        tenant_id=tenant_id, type="credit", amount=MONEY, reason="Benchmark", actor=SYSTEM, now=now
    )
    return recipients.save(tenant_id=tenant_id, details=details, actor=SYSTEM, now=now).pk


def _warm_up(port: int, customers: Sequence[Customer], orders: Orders) -> None:
    """Until all processes have done their part once."""
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as first:
        for customer in customers[:8]:
            orders.place(first, customer)
    _await_end()


def _ordered(
    port: int, customers: Sequence[Customer], orders: Orders, seconds: int, pace: int
) -> Percentiles:
    """Milliseconds from each order until the operator had it."""
    orders.began.clear()
    with Stream(port, customers, pace, orders.place).running():
        time.sleep(seconds)
    _await_end()
    if len(orders.began) < 0.8 * seconds * pace:
        raise CannotMeasure(f"{len(orders.began)} orders in {seconds} s, not {pace} a second")
    taken, messages = orders.operator.taken(), instant_line.first_messages()
    return Percentiles.of(
        (taken[messages[payment]] - began).total_seconds() * 1_000
        for payment, began in orders.began.items()
    )


def _await_end() -> None:
    """Until every payment is over. Raises CannotMeasure."""
    end = time.monotonic() + END_SECONDS
    while left := database.scalar(_OPEN):
        if time.monotonic() > end:
            raise CannotMeasure(f"{left} payments were not over in {END_SECONDS:.0f} s")
        time.sleep(0.2)


def _paced(bare: Bare, seconds: int, pace: int) -> Percentiles:
    """Milliseconds of each handover at the pace of the product's."""
    began = time.monotonic()
    number, turns = 0, threading.Lock()
    found: list[float] = []

    def work() -> None:
        nonlocal number
        while True:
            with turns:
                mine, number = number, number + 1
            if mine >= seconds * pace:
                return
            time.sleep(max(0.0, began + mine / pace - time.monotonic()))
            found.append(bare.pay() * 1_000)

    _together(work)
    return Percentiles.of(found)


def _ceiling(bare: Bare, seconds: int) -> float:
    """Payments a second that the operator takes at most."""
    began = time.monotonic()
    found: list[float] = []

    def work() -> None:
        while time.monotonic() < began + seconds:
            found.append(bare.pay())

    _together(work)
    return len(found) / (time.monotonic() - began)


def _together(work: Callable[[], None]) -> None:
    """Do it in all threads. Raises what one of them did."""
    with ThreadPoolExecutor(THREADS) as pool:
        running = [pool.submit(work) for _ in range(THREADS)]
    for each in running:
        each.result()


def _figures(found: Found, pace: int) -> list[Figure]:
    figures = []
    for name, aim in (("p50", None), ("p99", _AIM_MS)):
        ours, bare = ([getattr(each, name) for each in side] for side in (found.ours, found.bare))
        figures += [
            Figure(name=f"handed over, {name}", unit="ms", values=ours, aim=aim, at_most=True),
            Figure(name=f"bare, {name}", unit="ms", values=bare),
            Figure(name=f"{name} ÷ bare", values=ratios(ours, bare)),
        ]
    shares = [pace / each for each in found.ceilings]
    return [
        *figures,
        Figure(name="the operator's ceiling: payments/s", values=found.ceilings),
        Figure(name=f"{pace} payments/s ÷ ceiling", values=shares),
    ]


def _require_sound(customers: Sequence[Customer]) -> None:
    """Raises CannotMeasure where the audit finds anything."""
    scope = Scope(full=True, tenant_ids=tuple(each.tenant.pk for each in customers))
    for check in audits.checks():
        for finding in check(scope):
            raise CannotMeasure(f"the audit found {finding}")
