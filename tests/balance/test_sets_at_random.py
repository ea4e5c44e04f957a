"""Random sets against the same postings made alone: equal answers, announcements and rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from balance import invariants
from balance import services as ledger
from balance.kinds import PostingType
from balance.models import Balance, BalanceTransaction
from balance.posting import Posting
from balance.sets import Entry, Refused
from common import ids
from common.errors import DomainError
from common.money import AMOUNT_MAX
from tests.balance.builders import announced_to, fund, movement
from tests.builders import NOW, make_tenant

CREDIT, DEBIT, LOCK = PostingType.CREDIT, PostingType.DEBIT, PostingType.LOCK
UNLOCK, SETTLEMENT = PostingType.UNLOCK, PostingType.SETTLEMENT
ALONE = {
    CREDIT: ledger.credit,
    DEBIT: ledger.debit,
    LOCK: ledger.lock,
    UNLOCK: ledger.unlock,
    SETTLEMENT: ledger.settle,
}


@dataclass
class Twins:
    """Two worlds of the same tenants: one is given sets, the other each entry alone."""

    dice: Random
    in_sets: list[Any] = field(default_factory=lambda: [make_tenant() for _ in range(4)])
    alone: list[Any] = field(default_factory=lambda: [make_tenant() for _ in range(4)])
    used: list[Entry] = field(default_factory=list)

    def prepare(self, *, is_rich: bool) -> None:
        for one, other in zip(self.in_sets, self.alone, strict=True):
            below = self.dice.choice([None, 0, 200, 10**9])
            is_told = self.dice.random() < 0.5
            for tenant in (one, other):
                ledger.set_notify_below(tenant_id=tenant.pk, amount=below)
                ledger.set_notify_rise(tenant_id=tenant.pk, wanted=is_told)
                if is_rich:  # whatever is drawn then fits
                    fund(tenant, 10**10)
                    ledger.lock(**movement(tenant, 10**9))
                    ledger.change_pending(tenant_id=tenant.pk, delta=10**9)

    def draw(self, *, is_rich: bool) -> Entry:
        """An entry of one of the tenants, whose id is its number."""
        dice = self.dice
        if not is_rich and self.used and dice.random() < 0.15:
            again = dice.choice(self.used)
            return again if dice.random() < 0.8 else again._replace(amount=again.amount + 1)
        amount = dice.randint(1, 500)
        if not is_rich and dice.random() < 0.05:
            amount = dice.choice([0, AMOUNT_MAX, AMOUNT_MAX + 1])
        drawn = Entry(
            kind=dice.choice([CREDIT, CREDIT, CREDIT, DEBIT, LOCK, LOCK, UNLOCK, SETTLEMENT]),
            tenant_id=str(dice.choice([0, 0, 0, 1, 2, 3])),
            amount=amount,
            source_type=dice.choice(["payment", "funding_transaction"]),
            source_id=ids.new("pay"),
            description=f"Entry {len(self.used)}",
            pending_delta=dice.choice([0, 0, 0, amount, -amount]),
        )
        self.used.append(drawn)
        return drawn

    def post_in_sets(self, entries: list[Entry], now: Any) -> list[Any]:
        pks = [tenant.pk for tenant in self.in_sets]
        return ledger.post_many(
            [each._replace(tenant_id=pks[int(each.tenant_id)]) for each in entries], now=now
        )

    def post_alone(self, given: Entry, now: Any) -> Any:
        arguments = given._asdict() | {"tenant_id": self.alone[int(given.tenant_id)].pk}
        try:
            return ALONE[arguments.pop("kind")](**arguments, now=now)
        except (DomainError, IntegrityError, ValueError) as error:
            return Refused(error)


def told(outcome: Any) -> Any:
    """What an outcome says that is the same for both twins."""
    if isinstance(outcome, Refused):
        return type(outcome.error), str(outcome.error), getattr(outcome.error, "extra", None)
    assert isinstance(outcome, Posting)
    # The pending balance of a repeat is that of now, when the whole set is posted.
    pending = None if outcome.already_posted else outcome.pending_after
    return outcome._replace(id="", pending_after=pending)  # type: ignore[arg-type]


def books_of(tenant: Any) -> Any:
    balance = Balance.objects.values(
        "available", "pending", "locked", "sequence", "posted_at", "is_low"
    ).get(tenant=tenant)
    lines = BalanceTransaction.objects.filter(tenant=tenant).order_by("sequence").values()
    return balance, [
        {name: value for name, value in line.items() if name not in {"id", "tenant_id"}}
        for line in lines
    ]


def live_twice(seed: int, size: int) -> None:
    """200 entries, or a few sets; every outcome, announcement and row is the same."""
    dice = Random(seed)
    savepoint = transaction.savepoint()
    is_rich = dice.random() < 0.4
    twins = Twins(dice)
    twins.prepare(is_rich=is_rich)
    heard: list[Any] = []
    for _ in range(min(40, 200 // size)):
        now = NOW + timedelta(seconds=dice.randint(-60, 60))
        entries = [twins.draw(is_rich=is_rich) for _ in range(size)]
        with announced_to(heard):
            outcomes = twins.post_in_sets(entries, now)
            expected = [twins.post_alone(each, now) for each in entries]
        assert [told(each) for each in outcomes] == [told(each) for each in expected]
        assert not is_rich or all(isinstance(each, Posting) for each in outcomes)
    for one, other in zip(twins.in_sets, twins.alone, strict=True):
        assert heard_of(one, heard) == heard_of(other, heard)
        assert_same_books(one, other)
        assert invariants.check(now=NOW, tenant_id=one.pk, full=True).ok
    transaction.savepoint_rollback(savepoint)


def heard_of(tenant: Any, heard: list[Any]) -> list[Any]:
    return [(name, *rest) for name, tenant_id, *rest in heard if tenant_id == tenant.pk]


def assert_same_books(one: Any, other: Any) -> None:
    (balance, lines), (expected_balance, expected_lines) = books_of(one), books_of(other)
    assert balance == expected_balance
    # What the worlds were prepared with has sources of its own.
    prepared = [line for line in lines if line["description"] == "Test"]
    assert len(lines) == len(expected_lines)
    assert lines[len(prepared) :] == expected_lines[len(prepared) :]


SIZES = pytest.mark.parametrize("size", [1, 2, 200])
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)  # a history is one number


@SIZES
@pytest.mark.django_db
@pytest.mark.usefixtures("ledger_only")
@settings(max_examples=6, deadline=None, phases=PHASES)
@given(seed=st.integers(0, 2**32))
def test_any_set_does_what_its_entries_would_do_alone(size, seed):
    live_twice(seed, size)


@SIZES
@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.django_db
@pytest.mark.usefixtures("ledger_only")
@settings(max_examples=20, deadline=None, phases=PHASES)
@given(seed=st.integers(0, 2**32))
def test_many_sets_do_what_their_entries_would_do_alone(size, seed):
    live_twice(seed, size)
