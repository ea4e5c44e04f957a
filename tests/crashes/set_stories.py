"""Money of several tenants that moves in sets: handed over, settled, parked and given back.

Every tenant has an endpoint, so the deliveries are made in sets as well. What the bank does is told
by the account's number. A row whose line in the ledger may come before or after another one's is
of a tenant of its own, as the balances after them would differ from run to run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from django.db import connection
from django.test import override_settings

from common.clock import utc_now
from funding.invariants import CHECKS as FUNDING_CHECKS
from funding.models import FundingMethod, FundingSource
from funding.services import sources
from networks.base import Answer, EventKind, InstructionRefused
from networks.sandbox.bank import INSTANT_NAME, SandboxBank
from payments.invariants import CHECKS as PAYMENT_CHECKS
from payments.models import AUTO, Payment, PaymentMethod
from tenants.actors import SYSTEM
from tenants.models import Switch, Tenant, TenantStatus
from tenants.services import accounts, switches
from tests.builders import make_auto_funding, make_source
from tests.crashes.every_call import Story
from tests.crashes.stored import Stored
from tests.crashes.work_stories import task
from tests.crashes.world import Act, World
from tests.database import owner
from tests.funding.builders import top_up
from tests.payments.builders import fund, pay, take
from tests.transfers.directions import DIRECTIONS, Direction
from transfers.inbox.models import InboundEvent
from transfers.submission import RETRY_AFTER

Begin = Callable[[World], Act]

FINE, SILENT_TWICE, NEVER_SAYS_MORE = "000123456789", "30002", "30001"
RETURNED, RETURNED_LATE, REJECTED = "10001", "20001", "40003"
CORRECTED = ("60001", "60003", "60013")
NOT_INSTANT = "51001"
REFUSED, ANSWER_LOST = "88880001", "88880002"
AMOUNT = 10_000
TRIES = len(RETRY_AFTER) + 1  # after these a bank is believed that it has nothing
STAFF: Mapping[str, Any] = {"reason": "Look", "actor": SYSTEM}


class Bank(SandboxBank):
    """The sandbox bank, which refuses REFUSED, and whose first answer about ANSWER_LOST is lost."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def submit_many(self, instructions: Any, *, now: Any) -> dict[str, Answer]:
        refused: dict[str, Answer] = {
            each.id: InstructionRefused(code="unsupported", reason="not this account")
            for each in instructions
            if each.account.account_number == REFUSED
        }
        taken = [each for each in instructions if each.id not in refused]
        answers = super().submit_many(taken, now=now) | refused
        for each in taken:
            if each.account.account_number == ANSWER_LOST and each.id not in self._known:
                self._known.add(each.id)
                del answers[each.id]
        return answers


# --- Rows


def make(money: Direction, tenant: Tenant, *, to: str = FINE, count: int = 1) -> list[Any]:
    """Rows of the tenant that its network has not seen yet."""
    now, is_rtp = utc_now(), to == REJECTED
    if money.transfer.direction == "out":
        method = PaymentMethod.RTP if is_rtp else PaymentMethod.ACH_CREDIT
        fund(tenant, count * AMOUNT, now=now)
        return [pay(tenant, AMOUNT, to=to, method=method, now=now) for _ in range(count)]
    asked = FundingMethod.RTP if is_rtp else FundingMethod.ACH_DEBIT
    source = make_source(tenant, account_number=to, now=now)
    return [
        top_up(tenant, amount=AMOUNT, source=source, method=asked, now=now) for _ in range(count)
    ]


def sweep(money: Direction, name: str) -> Act:
    """What to do: this task of the direction."""
    return task(f"{'payments' if money.transfer.direction == 'out' else 'funding'}.{name}")


def submit(money: Direction) -> None:
    sweep(money, "submit_due")({})


def contradict(money: Direction, row: Any) -> None:
    """Let the bank know the row's id from another instruction."""
    other = money.transfer.instruction(row)
    SandboxBank().submit_many([replace(other, amount=AMOUNT + 1)], now=utc_now())


def end_account(row: Any) -> None:
    """Let the bank close the account that the row draws from."""
    source = FundingSource.objects.get(pk=row.source_id)
    sources.note_return(source=source, return_code="R02", now=utc_now())


def make_due(row: Any) -> None:
    """As if the pause after its last try were over."""
    type(row).objects.filter(pk=row.pk).update(next_attempt_at=utc_now())


def low(world: World, *, below: int) -> None:
    """Let auto-funding add to the balance once, when it looks."""
    source = make_source(world.tenant, account_number="5556667", now=utc_now())
    make_auto_funding(world.tenant, source=source, low_balance_threshold=below, funding_amount=700)


# --- Beginnings


def handed_over(world: World, money: Direction) -> Act:
    """A busy tenant and another one; and whatever a bank can answer, all in one call."""
    lost = make(money, World().tenant, to=ANSWER_LOST)[0]
    if money.transfer.direction == "in":
        submit(money)
        end_account(lost)  # not to be sent again, but the bank has it
        make_due(lost)
        end_account(make(money, World().tenant, to="88880003")[0])  # never to be sent
    else:
        short = World().tenant
        make(money, short)
        take(short, AMOUNT // 2, now=utc_now())  # what is set aside is not covered any more
    make(money, world.tenant, count=3)
    make(money, World().tenant, count=2)
    for number in (REFUSED, SILENT_TWICE, ANSWER_LOST):
        make(money, World().tenant, to=number)
    contradict(money, make(money, World().tenant, to=NEVER_SAYS_MORE)[0])
    return sweep(money, "submit_due")


def settled(world: World, money: Direction, size: int = 200) -> Act:
    """A busy tenant and another one; one that auto-funding looks after, which has one row because
    its decision names the balance; and what is not plain."""
    make(money, world.tenant, count=4)
    make(money, World().tenant, count=2)
    for number in (RETURNED, RETURNED_LATE, REJECTED):
        make(money, World().tenant, to=number)
    if money.transfer.direction == "in":
        watched = World()
        make(money, watched.tenant)
        low(watched, below=AMOUNT + 1)
    submit(money)
    return _in_sets_of(size, sweep(money, "process_network_events"))


def corrected(world: World, money: Direction) -> Act:
    """The banks of two accounts say that these are not quite so, of a third what nobody applies."""
    tenants = (world.tenant, World().tenant, World().tenant)
    for tenant, number in zip(tenants, CORRECTED, strict=True):
        make(money, tenant, to=number)
    submit(money)
    return sweep(money, "process_network_events")


def halved(world: World, money: Direction) -> Act:
    """One of the balances cannot be what a settlement makes of it, so that no set with it holds."""
    make(money, world.tenant, count=3)
    make(money, World().tenant)
    bad = World().tenant
    make(money, bad)
    submit(money)
    column = "locked" if money.transfer.direction == "out" else "pending"
    with owner.as_superuser(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE balance SET {column} = 0 WHERE tenant_id = %s", [bad.pk])
    return sweep(money, "process_network_events")


def stopped(world: World, money: Direction) -> Act:
    """One tenant goes on; of the others, one is suspended and one is stopped by a switch."""
    suspended, switched = World().tenant, World().tenant
    make(money, world.tenant, count=2)
    make(money, suspended, count=2)
    make(money, switched, count=2)
    accounts.suspend(tenant_id=suspended.pk, actor=SYSTEM, now=utc_now())
    kind = money.transfer.stopped_by
    switches.engage(kind=kind, tenant_id=switched.pk, now=utc_now(), **STAFF)
    return sweep(money, "submit_due")


def woken(world: World, money: Direction) -> Act:
    """What was parked may be sent again."""
    act = stopped(world, money)
    submit(money)
    release_all()
    return act


def waiting(world: World) -> Act:
    """Payments of several tenants, whose money has come."""
    for tenant in (world.tenant, World().tenant, World().tenant):
        for _ in range(2):
            pay(tenant, AMOUNT, wait=True, now=utc_now())
        fund(tenant, 2 * AMOUNT, now=utc_now())
    return task("payments.run_waiting")


def rerouted(world: World) -> Act:
    """An instant payment whose bank cannot take it goes by ACH."""
    world.money()
    world.payment(to=NOT_INSTANT, method=AUTO)
    task("payments.submit_due")({})
    return task("payments.process_network_events")


def contradicted(world: World) -> Act:
    """The network that could not take it says afterwards that it has moved the money."""
    rerouted(world)({})
    payment = Payment.objects.get(tenant=world.tenant)
    InboundEvent.objects.create(
        network=INSTANT_NAME,
        event_id=f"late-{payment.pk}",
        instruction_id=payment.pk,
        kind=EventKind.FINAL,
        amount=payment.amount,
        currency=payment.currency,
        occurred_at=utc_now(),
        received_at=utc_now(),
        next_attempt_at=utc_now(),
    )
    return task("payments.process_network_events")


def played(world: World) -> Act:
    """A sandbox tenant runs all that is due."""
    make(DIRECTIONS["in"], world.tenant, count=3)
    return world.post("sandbox/process-due")


def _in_sets_of(size: int, work: Act) -> Act:
    def act(headers: Mapping[str, str]) -> Any:
        with override_settings(NETWORK_MESSAGES_PER_SET=size):
            return work(headers)

    return act


# --- Ends

_TRIED_AGAIN = """
UPDATE funding_fundingtransaction SET next_attempt_at = now()
    WHERE status = 'reserved' AND held_at IS NULL AND next_attempt_at > now();
UPDATE payments_payment SET next_attempt_at = now()
    WHERE status = 'created' AND held_at IS NULL AND next_attempt_at > now();
UPDATE network_inbox_inboundevent SET next_attempt_at = now()
    WHERE outcome = 'new' AND next_attempt_at > now()
"""
_WAITS = """
SELECT id FROM funding_fundingtransaction WHERE status = 'reserved' AND held_at IS NULL
UNION ALL SELECT id FROM payments_payment
    WHERE status = 'created' AND held_at IS NULL AND held_back_at IS NULL
UNION ALL SELECT event_id FROM network_inbox_inboundevent WHERE outcome = 'new'
"""
_LOOKED_AT = """
UPDATE {table} AS row SET held_at = now(), hold_reason = 'the bank has another one of this id'
FROM sandbox_bank_sandboxinstruction AS bank
WHERE bank.external_id = row.id AND bank.amount <> row.amount AND row.held_at IS NULL
"""
_HEALED = """
UPDATE balance SET {total} = sums.total
FROM (SELECT tenant_id, sum(amount) AS total FROM {table}
    WHERE status IN ({open}) GROUP BY tenant_id) AS sums
WHERE balance.tenant_id = sums.tenant_id AND {total} <> sums.total
"""
_DIRECTIONS = (FUNDING_CHECKS, PAYMENT_CHECKS)


def finish(stored: Stored) -> None:
    """Let the sweeps do all that is left, as often as a bank wants to be asked. What it knows
    otherwise than we do is held by staff."""
    for checks in _DIRECTIONS:
        listed = ", ".join(f"'{status}'" for status in checks.open_statuses)
        stored.execute(_HEALED.format(table=checks.table, total=checks.total, open=listed))
    release_all()
    World.finish(stored)
    for _ in range(TRIES):
        if not stored.read(_WAITS):
            break
        stored.execute(_TRIED_AGAIN)
        World.finish(stored)
    for checks in _DIRECTIONS:
        stored.execute(_LOOKED_AT.format(table=checks.table))


def release_all() -> None:
    """Let everything go on that staff have stopped."""
    for switch in Switch.objects.filter(released_at=None):
        switches.release(switch_id=switch.pk, now=utc_now(), **STAFF)
    for tenant in Tenant.objects.filter(status=TenantStatus.SUSPENDED):
        accounts.release(tenant_id=tenant.pk, actor=SYSTEM, now=utc_now())


def _work(name: str, begin: Begin) -> Story:
    return Story(name, begin, in_steps=True, is_work=True, finish=finish)


def _both(name: str, begin: Callable[..., Act], **options: Any) -> Iterable[Story]:
    for direction, money in DIRECTIONS.items():
        begins = partial(begin, money=money, **options)
        yield Story(
            f"several {name}, {direction}", begins, in_steps=True, is_work=True, finish=finish
        )


STORIES = [
    *_both("handed over", handed_over),
    *_both("settled", settled),
    *_both("settled in twos", settled, size=2),
    *_both("corrected", corrected),
    *_both("halved", halved),
    *_both("parked", stopped),
    *_both("woken", woken),
    Story("several waiting payments", waiting, in_steps=True, is_work=True, finish=finish),
    Story("one sent another way", rerouted, in_steps=True, is_work=True, finish=finish),
    Story("one held, as it may be paid", contradicted, in_steps=True, is_work=True, finish=finish),
    Story(
        "several by POST sandbox/process-due", played, takes_key=True, in_steps=True, finish=finish
    ),
]
