"""What pages of tenants and of the desk take, against `/healthz` of the same server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import median

from benchmarks import load, people, processes, seeding, website
from benchmarks.figures import Figure, Section, ratios
from benchmarks.load import Request
from benchmarks.options import Options
from benchmarks.processes import Server
from benchmarks.seeding import Customer
from common.clock import utc_now
from funding.services import topups
from funding.services.lifecycle import TopUp
from networks.bank_details import BankDetails
from payments.services import orders, recipients
from payments.services.orders import Order
from tenants.actors import SYSTEM
from tenants.models import Role
from tenants.services import accounts

AIM = 10
ROWS = 60  # more than a page of any list has
SLICE_SECONDS = 0.4
HEALTH = Request(method="GET", path="/healthz", key="")
DASHBOARD = (
    "",
    "transactions",
    "transactions?view=ledger",
    "statements",
    f"statements/{utc_now():%Y-%m}",
    "funding",
    "payments",
    "recipients",
    "bank-accounts",
    "approvals",
    "auto-funding",
    "team",
    "audit-log",
    "settings",
    "api-keys",
    "webhooks",
    "events",
    "requests",
    "pay/",
    "find?q=10.00",
)
DESK = (
    "",
    "balance/balancetransaction/",
    "funding/fundingtransaction/",
    "payments/payment/",
    "tenants/tenant/",
    "tenants/auditevent/",
    "webhooks/webhookevent/",
    "webhooks/webhookdelivery/",
    "network_inbox/inboundevent/",
)
_TEXT = """{pairs} rounds of {seconds} s of each page, and of `/healthz` before them, one kept
connection, gunicorn with 2 workers of 4 threads and DEBUG off, pages compressed as a browser asks
for. The tenant has {rows} payments, top-ups, recipients and people, and a ledger of 400 lines. A
figure is the median time of a page by that of `/healthz` in the same round. In brackets: CPU time
of the server and of PostgreSQL, by that of `/healthz`. See decision 0212."""


@dataclass(frozen=True)
class Sample:
    """Of one slice: the median wait for an answer, and the CPU time of an answer, in seconds."""

    wall: float
    cpu: float


def measure(options: Options) -> Section:
    """Raises CannotMeasure."""
    seeding.require_own_database()
    pages = _pages()
    rounds = options.scaled(max(options.pairs, 5), 1)
    postmaster = processes.database_pid()
    with website.serving() as web:
        take = partial(_slice, web, postmaster, min(SLICE_SECONDS, options.seconds))
        for request in pages.values():
            load.run(web.port, request, connections=4, seconds=SLICE_SECONDS)  # until it is warm
        health, samples = [], {name: list[Sample]() for name in pages}
        for _ in range(rounds):
            health.append(take(HEALTH))
            for name, request in pages.items():
                samples[name].append(take(request))
    text = _TEXT.format(pairs=rounds, seconds=SLICE_SECONDS, rows=ROWS)
    return Section("Pages", text, list(_figures(health, samples)))


def _pages() -> Mapping[str, Request]:
    customer = seeding.customer()
    seeding.history(customer.tenant.pk, 400)
    owner = accounts.create_member(
        tenant_id=customer.tenant.pk,
        email="owner@benchmark.example",
        role=Role.OWNER,
        password=None,
        actor=SYSTEM,
        now=utc_now(),
    ).user
    for number in range(ROWS):
        _grow(customer, number)
    member, staff = people.cookie(owner), people.cookie(people.staff(), factor="totp")
    return {
        **{f"/dashboard/{path}": website.page(f"/dashboard/{path}", member) for path in DASHBOARD},
        **{f"/admin/{path}": website.page(f"/admin/{path}", staff) for path in DESK},
        "/docs/api/payments": website.page("/docs/api/payments", ""),
    }


def _grow(customer: Customer, number: int) -> None:
    tenant, now = customer.tenant, utc_now()
    payee = BankDetails(
        account_number=f"7700{number:03}",
        routing_number="021000021",
        holder_name=f"Supplier {number} LLC",
        holder_type="business",
        account_type="checking",
    )
    kept = recipients.save(tenant_id=tenant.pk, details=payee, actor=SYSTEM, now=now)
    order = Order(amount=1, recipient=kept.pk)
    orders.place(tenant_id=tenant.pk, mode=tenant.mode, order=order, actor=SYSTEM, now=now)
    topup = TopUp(source_id=customer.source.pk, amount=1_000 + number, description="Benchmark")
    topups.request(tenant_id=tenant.pk, mode=tenant.mode, topup=topup, actor=SYSTEM, now=now)
    accounts.create_member(
        tenant_id=tenant.pk,
        email=f"person-{number}@benchmark.example",
        role=Role.VIEWER,
        password=None,
        actor=SYSTEM,
        now=now,
    )


def _slice(web: Server, postmaster: int, seconds: float, request: Request) -> Sample:
    def spent() -> float:
        return web.cpu_seconds() + processes.database_cpu_seconds(postmaster)

    before = spent()
    done = load.run(web.port, request, connections=1, seconds=seconds)
    return Sample(wall=median(done.times), cpu=(spent() - before) / len(done.times))


def _figures(health: list[Sample], samples: Mapping[str, list[Sample]]) -> Iterator[Figure]:
    yield Figure(name="/healthz", unit="ms", values=[each.wall * 1000 for each in health])
    for name, found in samples.items():
        cpu = median(ratios([each.cpu for each in found], [max(each.cpu, 1e-9) for each in health]))
        yield Figure(
            name=f"{name} ÷ /healthz",
            values=ratios([each.wall for each in found], [each.wall for each in health]),
            aim=AIM,
            at_most=True,
            note=f"(CPU {cpu:.1f})",
        )
