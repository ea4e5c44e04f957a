"""Random histories of all money operations together, against a model that is plainly right.

The model knows what each test account does, keeps three sums and a queue, and nothing else.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from random import Random
from typing import Any

import pytest
from django.db import transaction
from hypothesis import Phase, given, note, settings
from hypothesis import strategies as st

from balance import invariants, selectors
from balance.errors import InsufficientBalance
from common.errors import DomainError
from funding.models import FundingTransaction
from funding.services import network_events as funding_events
from funding.services import submission as funding_submission
from funding.services import topups
from networks.errors import NotCancelable
from networks.holds import NotHoldable
from payments.models import Payment, PaymentMethod
from payments.services import holds, network_events, orders, submission, waiting
from tenants.actors import SYSTEM
from tests.builders import NOW, make_source, make_tenant
from tests.funding.builders import top_up
from tests.payments.builders import fund, pay, take

# What becomes of money sent to (or asked from) each test account, once a network has it.
FATES = {"123456": "completed", "10001": "failed", "20001": "returned", "30001": "processing"}
NUMBERS = sorted(FATES)
REJECTED = "40004"
STEPS_MAX = 60
WAIT = timedelta(days=7)


@dataclass
class Out:
    """One payment of the model."""

    row: Payment
    amount: int
    fate: str
    status: str
    gives_up: datetime
    is_held: bool = False


@dataclass
class In:
    """One top-up of the model."""

    row: FundingTransaction
    amount: int
    fate: str
    status: str = "reserved"


@dataclass
class World:
    """Each step acts on the model and on the product."""

    tenant: Any
    now: datetime = NOW
    available: int = 0
    outs: list[Out] = field(default_factory=list)
    ins: list[In] = field(default_factory=list)
    sources: dict[str, Any] = field(default_factory=dict)

    @property
    def locked(self) -> int:
        return sum(out.amount for out in self.outs if out.status in {"created", "processing"})

    @property
    def pending(self) -> int:
        return sum(each.amount for each in self.ins if each.status in {"reserved", "pending"})

    def queue(self) -> list[Out]:
        return [
            out
            for out in self.outs
            if out.status == "waiting_for_funds" and not out.is_held and out.gives_up > self.now
        ]

    def step(self, action: str, *arguments: Any) -> None:
        self.now += timedelta(seconds=1)
        getattr(self, action)(*arguments)

    def staff_credit(self, amount: int) -> None:
        fund(self.tenant, amount, now=self.now)
        self.available += amount

    def staff_debit(self, amount: int) -> None:
        take(self.tenant, amount, now=self.now)
        self.available -= amount

    def top_up(self, amount: int, number: str) -> None:
        if number not in self.sources:
            self.sources[number] = make_source(self.tenant, account_number=number)
        row = top_up(self.tenant, amount=amount, source=self.sources[number], now=self.now)
        self.ins.append(In(row, amount, FATES[number]))

    def pay(self, amount: int, number: str, may_wait: bool) -> None:
        is_covered = amount <= self.available
        must_wait = may_wait and (not is_covered or bool(self.queue()))
        method = PaymentMethod.RTP if number == REJECTED else PaymentMethod.ACH_CREDIT
        order = partial(
            pay, self.tenant, amount, to=number, method=method, wait=may_wait, now=self.now
        )
        if not (is_covered or may_wait):
            with pytest.raises(InsufficientBalance) as refusal:
                order()
            assert refusal.value.extra["shortfall"] == amount - self.available
            return
        row = order()
        status = "waiting_for_funds" if must_wait else "created"
        self.available -= 0 if must_wait else amount
        self.outs.append(
            Out(row, amount, FATES.get(number, "failed"), status, gives_up=self.now + WAIT)
        )

    def cancel(self, pick: int) -> None:
        if out := self._pick(self.outs, pick):
            could = out.status in {"waiting_for_funds", "created"}
            self._try(
                lambda: orders.cancel(
                    tenant_id=self.tenant.pk, payment_id=out.row.pk, actor=SYSTEM, now=self.now
                ),
                NotCancelable if not could else None,
            )
            if could:
                self.available += out.amount if out.status == "created" else 0
                out.status = "canceled"

    def cancel_top_up(self, pick: int) -> None:
        if each := self._pick(self.ins, pick):
            could = each.status == "reserved"
            self._try(
                lambda: topups.cancel(
                    tenant_id=self.tenant.pk, funding_id=each.row.pk, actor=SYSTEM, now=self.now
                ),
                NotCancelable if not could else None,
            )
            each.status = "failed" if could else each.status

    def hold(self, pick: int) -> None:
        if out := self._pick(self.outs, pick):
            could = out.is_held or out.status in {"waiting_for_funds", "created"}
            self._try(
                lambda: holds.hold(
                    payment_id=out.row.pk, reason="look", actor=SYSTEM, now=self.now
                ),
                NotHoldable if not could else None,
            )
            out.is_held = could

    def release(self, pick: int) -> None:
        if out := self._pick(self.outs, pick):
            holds.release(payment_id=out.row.pk, reason="fine", actor=SYSTEM, now=self.now)
            out.is_held = False

    def submit(self) -> None:
        submission.submit_due(now=self.now)
        funding_submission.submit_due(now=self.now)
        for out in self.outs:
            if out.status == "created" and not out.is_held:
                out.status = "processing"
        for each in self.ins:
            each.status = "pending" if each.status == "reserved" else each.status

    def listen(self) -> None:
        network_events.process(now=self.now)
        funding_events.process(now=self.now)
        for out in self.outs:
            if out.status == "processing":
                out.status = out.fate
                self.available += out.amount if out.fate in {"failed", "returned"} else 0
        for each in self.ins:
            if each.status == "pending" and each.fate != "processing":
                arrived = each.fate == "completed"
                each.status = "completed" if arrived else "failed"
                self.available += each.amount if arrived else 0

    def run_queue(self) -> None:
        waiting.run_due(now=self.now)
        for out in self.queue():
            if out.amount > self.available:
                break
            out.status = "created"
            self.available -= out.amount

    def pass_days(self) -> None:
        self.now += timedelta(days=3)
        waiting.expire_due(now=self.now)
        for out in self.outs:
            if out.status == "waiting_for_funds" and not out.is_held and out.gives_up <= self.now:
                out.status = "failed"

    @staticmethod
    def _pick(rows: list[Any], pick: int) -> Any:
        return rows[pick % len(rows)] if rows else None

    @staticmethod
    def _try(act: Any, refusal: type[DomainError] | None) -> None:
        if refusal is None:
            act()
            return
        with pytest.raises(refusal):
            act()


def check(world: World) -> None:
    """Everything that must hold after any step."""
    funds = selectors.summary(world.tenant.pk)
    assert (funds.available, funds.pending, funds.locked) == (
        world.available,
        world.pending,
        world.locked,
    )
    statuses = dict(Payment.objects.filter(tenant=world.tenant).values_list("pk", "status"))
    assert statuses == {out.row.pk: out.status for out in world.outs}
    for line in selectors.transactions(world.tenant.pk).filter(type="lock"):
        assert line["available_after"] >= 0


def draw_step(dice: Random) -> tuple[Any, ...]:
    """One step. By dice, because lists of Hypothesis repeat themselves: queues never built up."""
    amount, pick = dice.randint(1, 1_000), dice.randint(0, 50)
    steps: dict[tuple[Any, ...], int] = {
        ("pay", amount, dice.choice([*NUMBERS, REJECTED]), dice.random() < 0.7): 8,
        ("top_up", amount, dice.choice(NUMBERS)): 2,
        ("staff_credit", amount): 3,
        ("staff_debit", amount): 1,
        ("submit",): 3,
        ("listen",): 3,
        ("run_queue",): 4,
        ("pass_days",): 1,
        ("cancel", pick): 2,
        ("cancel_top_up", pick): 1,
        ("hold", pick): 1,
        ("release", pick): 1,
    }
    (step,) = dice.choices(list(steps), weights=list(steps.values()))
    return step


@contextmanager
def forgotten():
    """What a history leaves undone would be work for the next one.

    A bare savepoint: the sandbox bank, being another world, refuses to work inside `atomic`.
    """
    savepoint = transaction.savepoint()
    try:
        yield
    finally:
        transaction.savepoint_rollback(savepoint)


@pytest.mark.django_db
@pytest.mark.timeout(300)
@settings(max_examples=20, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(seed=st.integers(0, 2**32))
def test_any_history_of_money_in_and_out_is_explained(seed):
    dice = Random(seed)
    with forgotten():
        world = World(make_tenant())
        for _ in range(STEPS_MAX):
            action, *arguments = draw_step(dice)
            note(f"{action} {arguments}")
            world.step(action, *arguments)
            check(world)
        report = invariants.check(now=world.now, tenant_id=world.tenant.pk, full=True)

    assert report.findings == []
