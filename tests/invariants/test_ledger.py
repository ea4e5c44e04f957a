"""Random histories of one balance, against a model of a few lines that is plainly right."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from balance import invariants, journal, selectors
from balance import services as ledger
from balance.errors import InsufficientBalance, PostingConflict
from tests.balance.builders import movement
from tests.builders import NOW, make_tenant

AMOUNTS = st.integers(1, 1_000)
PICKS = st.integers(0, 50)
STEPS = st.one_of(
    st.tuples(st.sampled_from(["credit", "debit", "lock", "expect", "arrive"]), AMOUNTS),
    st.tuples(st.sampled_from(["unlock", "settle", "give_up", "repeat", "conflict"]), PICKS),
    st.tuples(st.just("overdraw"), AMOUNTS),
)

EFFECTS = {
    "credit": (1, 0),
    "debit": (-1, 0),
    "lock": (-1, 1),
    "unlock": (1, -1),
    "settle": (0, -1),
}


@dataclass
class History:
    """The model: three numbers and what was done. Each step acts on it and on the ledger."""

    tenant: Any
    available: int = 0
    pending: int = 0
    locked: int = 0
    lines: list[tuple[str, int, int, int]] = field(default_factory=list)
    orders: list[tuple[str, Any]] = field(default_factory=list)
    open_payments: list[Any] = field(default_factory=list)
    expected: list[int] = field(default_factory=list)

    def step(self, action: str, number: int) -> None:
        getattr(self, action, lambda amount: self.post(action, self.order(amount)))(number)

    def order(self, amount: int, **changes: Any) -> Any:
        # The clock of another machine may be behind: each order comes a second "earlier".
        now = NOW - timedelta(seconds=len(self.orders))
        return movement(self.tenant, amount, now=now, **changes)

    def post(self, action: str, order: Any) -> None:
        getattr(ledger, action)(**order)
        available, locked = (sign * order["amount"] for sign in EFFECTS[action])
        self.available += available
        self.locked += locked
        self.pending += order.get("pending_delta", 0)
        self.lines.append((action, order["amount"], self.available, self.locked))
        self.orders.append((action, order))

    def lock(self, amount: int) -> None:
        order = self.order(amount)
        if amount > self.available:
            with pytest.raises(InsufficientBalance) as refusal:
                ledger.lock(**order)
            assert refusal.value.extra["shortfall"] == amount - self.available
            return
        self.post("lock", order)
        self.open_payments.append(order)

    def unlock(self, pick: int) -> None:
        self._end_payment("unlock", pick)

    def settle(self, pick: int) -> None:
        self._end_payment("settle", pick)

    def _end_payment(self, action: str, pick: int) -> None:
        if self.open_payments:
            self.post(action, self.open_payments.pop(pick % len(self.open_payments)))

    def overdraw(self, amount: int) -> None:
        with pytest.raises(IntegrityError), transaction.atomic():
            ledger.settle(**self.order(self.locked + amount))

    def expect(self, amount: int) -> None:
        ledger.change_pending(tenant_id=self.tenant.pk, delta=amount)
        self.pending += amount
        self.expected.append(amount)

    def arrive(self, pick: int) -> None:
        if self.expected:
            amount = self.expected.pop(pick % len(self.expected))
            self.post("credit", self.order(amount, pending_delta=-amount))

    def give_up(self, pick: int) -> None:
        if self.expected:
            amount = self.expected.pop(pick % len(self.expected))
            ledger.change_pending(tenant_id=self.tenant.pk, delta=-amount)
            self.pending -= amount

    def repeat(self, pick: int) -> None:
        if self.orders:
            action, order = self.orders[pick % len(self.orders)]
            assert getattr(ledger, action)(**order).already_posted

    def conflict(self, pick: int) -> None:
        if self.orders:
            action, order = self.orders[pick % len(self.orders)]
            with pytest.raises(PostingConflict):
                getattr(ledger, action)(**order | {"amount": order["amount"] + 1})


def check(history: History) -> None:
    """Everything that must hold after any step."""
    tenant_id = history.tenant.pk
    funds = selectors.summary(tenant_id)
    assert (funds.available, funds.pending, funds.locked) == (
        history.available,
        history.pending,
        history.locked,
    )
    rows = list(selectors.transactions(tenant_id).order_by("sequence"))
    assert [row["sequence"] for row in rows] == list(range(1, len(rows) + 1))
    assert [
        (row["type"], row["amount"], row["available_after"], row["locked_after"]) for row in rows
    ] == [(action.replace("settle", "settlement"), *rest) for action, *rest in history.lines]
    assert history.locked == sum(order["amount"] for order in history.open_payments)
    assert history.pending == sum(history.expected)
    totals = journal.trial_balance(tenant_id)
    assert sum(total.debit for total in totals) == sum(total.credit for total in totals)
    assert invariants.check(now=NOW, tenant_id=tenant_id).ok


@pytest.mark.django_db
@pytest.mark.usefixtures("ledger_only")
@settings(max_examples=20, deadline=None)
@given(steps=st.lists(STEPS, max_size=25))
def test_any_history_keeps_every_invariant(steps):
    live(steps)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.django_db
@pytest.mark.usefixtures("ledger_only")
@settings(max_examples=100, deadline=None)
@given(steps=st.lists(STEPS, max_size=25))
def test_many_histories_keep_every_invariant(steps):
    live(steps)


def live(steps: list[tuple[str, int]]) -> None:
    history = History(make_tenant())

    for action, number in steps:
        history.step(action, number)
        check(history)

    assert invariants.check(now=NOW, tenant_id=history.tenant.pk, full=True).ok
