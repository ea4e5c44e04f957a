"""What the rolling limits on money out cost a payment order (decision 0161): orders with limits
against orders without, in one run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from types import MappingProxyType

from benchmarks import clients, database, processes, seeding
from benchmarks.figures import Figure, Section, ratios
from benchmarks.options import Options
from benchmarks.wall import Sample, crew_side, in_turns
from common.clock import utc_now
from networks.bank_details import BankDetails
from payments.caps import KEYS, Cap
from payments.models import Recipient
from payments.services import limit_settings, limits, orders, recipients, totals
from payments.services.orders import Order
from tenants import actors
from tenants.actors import SYSTEM
from tenants.models import ApiKey, Mode, Role, Tenant
from tenants.services import accounts, keys

AIM = 0.9
ROUNDS = 9
HISTORY = 4_000  # of each tenant: 150,000 cents
HOURS = 720  # before this one
LEFT_OUT, WITHOUT, AGAIN, WITH, MONTH = "left out", "without", "again", "with", "month"
SIDES = (LEFT_OUT, WITHOUT, AGAIN, WITH, MONTH)
_KEY = "bench-limits"
# Limits that let everything through.
_WIDE = MappingProxyType(dict.fromkeys(KEYS, Cap(amount=10**12, payments=10**9)))
_TOTALS = """
INSERT INTO payments_paymenttotal (tenant_id, scope, hour, payments, amount, unasked)
SELECT %(tenant)s, scope, date_trunc('hour', now()) - n * interval '1 hour', 1, 1, 1
FROM unnest(%(scopes)s::text[]) AS scope, generate_series(1, %(hours)s) AS n
"""


def measure(options: Options) -> Section:
    """Raises CannotMeasure."""
    seeding.require_own_database()
    rounds = options.scaled(max(options.pairs, ROUNDS), 1)
    first = Tenant.objects.count()
    for side in SIDES:
        _tenant(side)
    database.execute("VACUUM ANALYZE")
    postmaster = processes.database_pid()
    with ExitStack() as stack:
        sides = {
            name: crew_side(
                stack.enter_context(
                    clients.crew("benchmarks.limits.prepare", first + number, clients=1)
                ),
                postmaster,
                options,
            )
            for number, name in enumerate(SIDES)
        }
        for act in sides.values():  # until each client is ready and warm
            act()
        found = in_turns("limits", sides, rounds, options)
    text = _TEXT.format(rounds=rounds, seconds=options.seconds, rows=HOURS + 1)
    return Section("Limits", text, list(_figures(found)))


_TEXT = """{rounds} rounds of {seconds} s of each side, which take turns ten times in a round. One
warm process per side calls `payments.services.orders.place` for one cent to a saved recipient, by a
key that a person made (four scopes: tenant, recipient, key, person), one commit each, each side
with a tenant of its own.
*Left out*: the totals are neither read nor counted, as before there were limits. *Without*: the
tenant has no limits; *again*: the same once more, which shows how far two equal sides differ here.
*With*: all eight limits are set. *Month*: the same where each scope has {rows} hours with payments,
as many as can count. CPU of the client and of PostgreSQL, per order; above 1 the second side costs
less."""


def _tenant(side: str) -> None:
    """One with money and a person's key, and what its side is about."""
    now = utc_now()
    tenant = accounts.create_tenant(name="Benchmark", mode=Mode.SANDBOX, actor=SYSTEM, now=now)
    seeding.history(tenant.pk, HISTORY)
    account: BankDetails = {
        "account_number": "000123456789",
        "routing_number": "021000021",
        "holder_name": "Supplier LLC",
        "holder_type": "business",
        "account_type": "checking",
    }
    payee = recipients.save(tenant_id=tenant.pk, details=account, actor=SYSTEM, now=now)
    member = accounts.create_member(
        tenant_id=tenant.pk,
        email=f"{tenant.pk}@bench.example",
        role=Role.OWNER,
        password=None,
        actor=SYSTEM,
        now=now,
    )
    person = actors.user(member.user_id)
    key = keys.issue(tenant=tenant, name=_KEY, actor=person, now=now).key
    if side in (WITH, MONTH):
        limit_settings.change(tenant_id=tenant.pk, wanted=_WIDE, actor=person, now=now)
    if side == MONTH:
        scopes = [
            *limits.scopes_of(actors.api_key(key.pk)).values(),
            limits.scope_of_recipient(payee),
        ]
        database.execute(_TOTALS, tenant=tenant.pk, scopes=scopes, hours=HOURS)


def prepare(_number: int, which: int) -> Callable[[], object]:
    """A client's operation: an order of the tenant that was made as number `which`."""
    tenant = Tenant.objects.order_by("created_at", "pk")[which]
    payee = Recipient.objects.get(tenant=tenant).pk
    actor = actors.api_key(ApiKey.objects.get(tenant=tenant, name=_KEY).pk)
    made = Tenant.objects.filter(name="Benchmark").count()
    if which == made - len(SIDES):
        _leave_totals_out()

    def order() -> None:
        wanted = Order(amount=1, recipient=payee)
        orders.place(
            tenant_id=tenant.pk, mode=tenant.mode, order=wanted, actor=actor, now=utc_now()
        )

    return order


def _leave_totals_out() -> None:
    """In this process alone, which ends with the measurement."""
    totals.used = lambda **_: {}
    totals.count = lambda payment: None


def _figures(found: Mapping[str, list[Sample]]) -> Iterator[Figure]:
    costs = {name: [item.cpu_us for item in samples] for name, samples in found.items()}
    theirs = {name: [item.database_us for item in samples] for name, samples in found.items()}
    rates = {name: [item.rate for item in samples] for name, samples in found.items()}
    for one, other, aim in (
        (WITHOUT, WITH, AIM),
        (WITHOUT, AGAIN, None),
        (LEFT_OUT, WITHOUT, None),
        (LEFT_OUT, WITH, None),
        (WITH, MONTH, None),
    ):
        pair = f"{one} ÷ {other}"
        yield Figure(name=f"order: CPU {pair}", values=ratios(costs[one], costs[other]), aim=aim)
        yield Figure(
            name=f"order: PostgreSQL's CPU {pair}", values=ratios(theirs[one], theirs[other])
        )
        rate = ratios(rates[other], rates[one])
        yield Figure(name=f"order: a second, {other} ÷ {one}", values=rate)
    for name in SIDES:
        yield Figure(name=f"order: CPU, {name}", unit="µs", values=costs[name])
