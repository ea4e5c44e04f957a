"""What work on transfers costs the database: as much with many rows, long histories and other
tenants as with few, or a bounded number of statements for each row that it moves.

What reading them costs is in the tables of pages: tests/api/test_query_counts.py and
tests/dashboard/shell/test_query_counts.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from approvals import sweeps
from approvals.policies import AnyPolicy
from balance import invariants
from funding.services import approval_policy as topup_approvals
from funding.services import auto_funding, deposits, verifications
from payments.services import approval_policy as payment_approvals
from payments.services import approval_settings, waiting
from tenants.actors import SYSTEM
from tenants.models import Tenant
from tenants.services import switches
from tenants.switches import SwitchKind
from tests.builders import NOW, make_auto_funding, make_member, make_source, make_tenant
from tests.payments import builders as payments
from tests.transfers.directions import DIRECTIONS, Direction
from transfers import holds, submission
from transfers.inbox import arrivals, messages

MANY = 6
LATER = NOW + timedelta(days=30)


@dataclass(frozen=True, kw_only=True)
class Side:
    """A direction, and what the two name differently. `need_approval` lets every new transfer of a
    tenant wait for one. `add_calm` adds a tenant that `sweep` need not touch, and `add_late` a row
    that `expire` ends."""

    money: Direction
    switch: SwitchKind
    policy: AnyPolicy
    need_approval: Callable[[Tenant], object]
    add_calm: Callable[[int], object]
    sweep: Callable[..., int]
    add_late: Callable[[Tenant, int], object]
    expire: Callable[..., int]


def _approve_top_ups(tenant: Tenant) -> None:
    make_auto_funding(tenant, enabled=False, confirmation_threshold=0, confirm_topups=True)


def _approve_payments(tenant: Tenant) -> None:
    approval_settings.set_threshold(tenant_id=tenant.pk, threshold=0, actor=SYSTEM, now=NOW)


def _tenant_with_enough(number: int) -> None:
    tenant = make_tenant(name=f"Calm {number}")
    make_auto_funding(tenant)
    payments.fund(tenant, 10_000)


def _tenant_with_too_little(number: int) -> None:
    """Its oldest payment is not covered; a younger one would be."""
    tenant = make_tenant(name=f"Calm {number}")
    payments.pay(tenant, 500, wait=True)
    payments.pay(tenant, 100, wait=True, now=NOW + timedelta(seconds=1))
    payments.fund(tenant, 400)


def _source_with_deposits_on_the_way(tenant: Tenant, number: int) -> None:
    make_source(make_tenant(name=f"Unproven {number}"), account_number="50001")
    deposits.send_due(now=NOW)


SIDES = {
    "in": Side(
        money=DIRECTIONS["in"],
        switch=SwitchKind.FUNDING,
        policy=topup_approvals.POLICY,
        need_approval=_approve_top_ups,
        add_calm=_tenant_with_enough,
        sweep=auto_funding.sweep,
        add_late=_source_with_deposits_on_the_way,
        expire=verifications.expire_due,
    ),
    "out": Side(
        money=DIRECTIONS["out"],
        switch=SwitchKind.PAYMENTS,
        policy=payment_approvals.POLICY,
        need_approval=_approve_payments,
        add_calm=_tenant_with_too_little,
        sweep=waiting.run_due,
        add_late=lambda tenant, number: payments.pay(tenant, 100, wait=True),
        expire=waiting.expire_due,
    ),
}


def _due(side: Side, tenant: Tenant, number: int) -> Any:
    return side.money.make(tenant, 100)


def _held(side: Side, tenant: Tenant, number: int) -> None:
    row = _due(side, tenant, number)
    holds.hold(side.money.transfer, row.pk, reason="odd", actor=SYSTEM, now=NOW)


def _handed_over(side: Side, tenant: Tenant, number: int) -> None:
    _due(side, tenant, number)
    submission.submit_due(side.money.transfer, now=NOW)


def _told(side: Side, tenant: Tenant, number: int) -> None:
    _handed_over(side, tenant, number)
    _collect(side, tenant)


def _completed(side: Side, tenant: Tenant, number: int) -> None:
    _due(side, tenant, number)
    side.money.run_due()


def _completed_elsewhere(side: Side, tenant: Tenant, number: int) -> None:
    _completed(side, make_tenant(name=f"Other {number}"), number)


def _open_approval(side: Side, tenant: Tenant, number: int) -> None:
    if number == 0:
        make_member(tenant, email="boss@acme.example")
        side.need_approval(tenant)
    _due(side, tenant, number)


def _unasked_approval(side: Side, tenant: Tenant, number: int) -> None:
    """Its one approver came after it was asked for."""
    _open_approval(side, tenant, number)
    rows = side.policy.approvals().model._default_manager
    rows.filter(pk=rows.latest("pk").pk).update(approvers=[])


def _stopped(side: Side, tenant: Tenant, number: int) -> None:
    if number == 0:
        switches.engage(kind=side.switch, reason="Look first", actor=SYSTEM, now=NOW)
    _due(side, tenant, number)


def _submit(side: Side, tenant: Tenant) -> int:
    return submission.submit_due(side.money.transfer, now=NOW)


def _collect(side: Side, tenant: Tenant) -> int:
    return arrivals.collect_all(id_prefix=side.money.transfer.id_prefix, now=NOW)


def _apply(side: Side, tenant: Tenant) -> int:
    return messages.apply_new(side.money.transfer, now=NOW)


def _start_one(side: Side, tenant: Tenant) -> int:
    side.money.make(tenant, 100)
    return 0


def _audit(side: Side, tenant: Tenant) -> int:
    return len(invariants.check(now=NOW, full=True).findings)


def _before_the_end(work: Callable[..., int], since: timedelta) -> Callable[[Side, Tenant], int]:
    """`work` on the approvals, which end after 72 hours, at so much after they were asked for."""
    moment: datetime = NOW + since
    return lambda side, tenant: work(side.policy, now=moment)


@dataclass(frozen=True, kw_only=True)
class Operation:
    """`add` adds one row, the `number`th; `run` does the work and returns how much it did:
    `does` for each row that was added. `each` is the most statements that a further row takes."""

    add: Callable[[Side, Tenant, int], object]
    run: Callable[[Side, Tenant], int]
    does: int = 0
    each: Mapping[str, int] = field(default_factory=lambda: {"in": 0, "out": 0})


OPERATIONS = {
    "submit what is due": Operation(add=_due, run=_submit, does=1, each={"in": 15, "out": 18}),
    "submit beside completed ones": Operation(add=_completed, run=_submit),
    "submit beside held ones": Operation(add=_held, run=_submit),
    "submit beside stopped ones": Operation(add=_stopped, run=_submit),
    "submit beside ones that wait for approval": Operation(add=_open_approval, run=_submit),
    "collect messages": Operation(add=_handed_over, run=_collect, does=2),
    "apply messages": Operation(add=_told, run=_apply, does=2, each={"in": 32, "out": 19}),
    "start one after many": Operation(add=_completed, run=_start_one),
    "start one beside other tenants": Operation(add=_completed_elsewhere, run=_start_one),
    "remind of approvals": Operation(
        add=_open_approval,
        run=_before_the_end(sweeps.remind_due, timedelta(hours=48)),
        does=1,
        each={"in": 7, "out": 7},  # two for who still decides
    ),
    "remind of approvals too early": Operation(
        add=_open_approval, run=_before_the_end(sweeps.remind_due, timedelta(hours=47))
    ),
    "ask who has come to approve": Operation(
        add=_unasked_approval,
        run=_before_the_end(sweeps.ask_newcomers, timedelta(hours=1)),
        does=1,
        each={"in": 10, "out": 10},
    ),
    "ask who has come to approve where nobody has": Operation(
        add=_open_approval,
        run=_before_the_end(sweeps.ask_newcomers, timedelta(hours=1)),
    ),
    "expire approvals": Operation(
        add=_open_approval,
        run=_before_the_end(sweeps.expire_due, timedelta(hours=72)),
        does=1,
        each={"in": 17, "out": 16},
    ),
    "expire approvals too early": Operation(
        add=_open_approval, run=_before_the_end(sweeps.expire_due, timedelta(hours=71))
    ),
    "sweep tenants that need nothing": Operation(
        add=lambda side, tenant, number: side.add_calm(number),
        run=lambda side, tenant: side.sweep(now=NOW + timedelta(minutes=1)),
    ),
    "expire what waited too long": Operation(
        add=lambda side, tenant, number: side.add_late(tenant, number),
        run=lambda side, tenant: side.expire(now=LATER),
        does=1,
        # Out: the balance is locked and the totals of what is paid give the payment back.
        each={"in": 9, "out": 10},
    ),
    "expire too early": Operation(
        add=lambda side, tenant, number: side.add_late(tenant, number),
        run=lambda side, tenant: side.expire(now=NOW),
    ),
    "audit": Operation(add=_completed, run=_audit),
}


@pytest.mark.parametrize("direction", SIDES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_costs_the_same_for_few_and_many(acme: Tenant, name: str, direction: str) -> None:
    operation, side = OPERATIONS[name], SIDES[direction]
    numbers = iter(range(100))

    def cost(rows: int) -> int:
        for _ in range(rows):
            operation.add(side, acme, next(numbers))
        with CaptureQueriesContext(connection) as statements:
            assert operation.run(side, acme) == operation.does * rows
        return len(statements)

    cost(1)  # what is asked for once a process
    few, many = cost(1), cost(MANY)
    assert many - few <= operation.each[direction] * (MANY - 1), (few, many)
