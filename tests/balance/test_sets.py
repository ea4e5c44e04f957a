"""Postings in sets: each entry gets what it would get alone, in the order given."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from balance import invariants
from balance import services as ledger
from balance.errors import BalanceOutOfRange, InsufficientBalance, PostingConflict
from balance.kinds import PostingType
from balance.models import Balance, BalanceTransaction
from balance.posting import Posting
from balance.sets import Entry, Refused
from balance.signals import available_balance_fell, available_balance_rose
from common import ids
from common.errors import DomainError
from common.money import AMOUNT_MAX
from tests.balance.builders import balance_of, fund, movement, round_trips, statement_of
from tests.builders import NOW, make_tenant
from tests.database import owner

CREDIT, DEBIT, LOCK = PostingType.CREDIT, PostingType.DEBIT, PostingType.LOCK
UNLOCK, SETTLEMENT = PostingType.UNLOCK, PostingType.SETTLEMENT
ALONE = {
    CREDIT: ledger.credit,
    DEBIT: ledger.debit,
    LOCK: ledger.lock,
    UNLOCK: ledger.unlock,
    SETTLEMENT: ledger.settle,
}


def entry(tenant, kind, amount, **changes):
    """With a source of its own unless given one."""
    given = {"source_type": "payment", "source_id": ids.new("pay"), "description": "Test"}
    return Entry(kind=kind, tenant_id=tenant.pk, amount=amount, **given | changes)


def post(*entries, now=NOW):
    return ledger.post_many(entries, now=now)


def errors(outcomes):
    """The kinds of errors among them; None where one was posted."""
    return [type(each.error) if isinstance(each, Refused) else None for each in outcomes]


def updated_balances():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_get_xact_tuples_updated('balance'::regclass)")
        return cursor.fetchone()[0]


class TestSets:
    def test_of_several_tenants_are_posted_in_their_order(self, acme, rival):
        fund(acme, 100)
        posted = post(
            entry(rival, CREDIT, 7),
            entry(acme, LOCK, 60),
            entry(rival, CREDIT, 8),
            entry(acme, CREDIT, 5),
        )

        assert [(each.sequence, each.available_after, each.locked_after) for each in posted] == [
            (1, 7, 0),
            (2, 40, 60),
            (2, 15, 0),
            (3, 45, 60),
        ]
        assert balance_of(acme) == (45, 0, 60)
        assert statement_of(acme)[1:] == [(2, "lock", 60, 40, 60), (3, "credit", 5, 45, 60)]
        assert statement_of(rival) == [(1, "credit", 7, 7, 0), (2, "credit", 8, 15, 0)]

    def test_say_all_that_was_written(self, acme):
        fund(acme, 1)
        given = entry(acme, CREDIT, 123, description='a "quoted" \\ {thing}, NULL', pending_delta=9)

        (posting,) = post(given)

        row = BalanceTransaction.objects.get(pk=posting.id)
        assert (row.sequence, row.type, row.amount) == (2, "credit", 123)
        assert (row.available_delta, row.locked_delta, row.currency) == (123, 0, "USD")
        assert (row.source_type, row.source_id) == (given.source_type, given.source_id)
        assert row.description == given.description
        assert row.created_at == posting.created_at == NOW
        assert (posting.pending_after, posting.already_posted) == (9, False)

    def test_move_each_balance_once_in_one_round_trip(self, acme, rival):
        fund(acme, 100)
        fund(rival, 100)
        post(entry(acme, CREDIT, 1))  # prepared
        given = [entry(tenant, CREDIT, 1) for tenant in [acme, rival] * 25]
        before = updated_balances()

        with round_trips() as trips:
            posted = post(*given)

        assert trips.count == 1
        assert updated_balances() - before == 2
        assert [each.available_after for each in posted[-2:]] == [126, 125]

    def test_of_nothing_are_nothing(self, db):
        with round_trips() as trips:
            assert post() == []
        assert trips.count == 0

    def test_open_the_balances_that_are_missing(self, acme, rival):
        fund(rival, 1)

        posted = post(entry(rival, CREDIT, 2), entry(acme, CREDIT, 3), entry(acme, LOCK, 2))

        assert [each.available_after for each in posted] == [3, 3, 1]
        assert balance_of(acme) == (1, 0, 2)

    def test_are_dated_by_the_database_and_never_back(self, acme, rival):
        fund(acme, 1, now=NOW)

        one, two = post(entry(acme, CREDIT, 1), entry(rival, CREDIT, 1), now=NOW - SECOND)

        assert (one.created_at, two.created_at) == (NOW, NOW - SECOND)


SECOND = timedelta(seconds=1)


class TestRefusals:
    def test_keep_none_of_the_others_back(self, acme, rival):
        fund(acme, 100)
        before = updated_balances()

        outcomes = post(
            entry(acme, LOCK, 60),
            entry(acme, LOCK, 50),
            entry(rival, SETTLEMENT, 1),
            entry(acme, CREDIT, 20),
            entry(acme, LOCK, 50),
        )

        assert updated_balances() > before
        assert errors(outcomes) == [None, InsufficientBalance, IntegrityError, None, None]
        assert outcomes[1].error.extra == {"available_balance": 40, "shortfall": 10}
        assert balance_of(acme) == (10, 0, 110)
        assert [line[0] for line in statement_of(acme)] == [1, 2, 3, 4]
        assert statement_of(rival) == []

    def test_leave_the_transaction_around_them_usable(self, acme):
        with transaction.atomic():
            assert errors(post(entry(acme, LOCK, 1))) == [InsufficientBalance]
            fund(acme, 5)

        assert balance_of(acme) == (5, 0, 0)

    @pytest.mark.parametrize(
        "changes",
        [
            {"amount": 0},
            {"amount": -1},
            {"amount": AMOUNT_MAX + 1},
            {"amount": True},
            {"amount": 1.0},
            {"description": "x" * 201},
            {"source_id": "x" * 33},
            {"source_type": "x" * 33},
            {"description": "a\0b"},
            {"pending_delta": 2**63},
            {"pending_delta": -(2**63)},
        ],
    )
    def test_what_postgresql_cannot_take_is_a_bug_of_that_entry(self, acme, changes):
        outcomes = post(
            entry(acme, CREDIT, 5),
            entry(acme, CREDIT, 1)._replace(**changes),
            entry(acme, CREDIT, 6),
        )

        assert errors(outcomes) == [None, ValueError, None]
        assert balance_of(acme) == (11, 0, 0)

    @pytest.mark.parametrize(
        ("given", "delta"),
        [(CREDIT, 0), (LOCK, 0), (CREDIT, AMOUNT_MAX)],
        ids=["available", "locked", "pending"],
    )
    def test_a_balance_stays_in_its_range(self, acme, given, delta):
        fund(acme, AMOUNT_MAX)
        ledger.lock(**movement(acme, AMOUNT_MAX))
        fund(acme, AMOUNT_MAX - (given is CREDIT and delta > 0))
        ledger.change_pending(tenant_id=acme.pk, delta=1)
        before = balance_of(acme)

        outcomes = post(entry(acme, given, 1, pending_delta=delta))

        assert errors(outcomes) == [BalanceOutOfRange]
        assert balance_of(acme) == before

    def test_an_unknown_tenant_has_no_balance(self, acme):
        nobody = entry(acme, CREDIT, 1)._replace(tenant_id="ten_00000000000000000000000000")

        outcomes = post(nobody, entry(acme, CREDIT, 2), nobody)

        assert errors(outcomes) == [IntegrityError, None, IntegrityError]
        assert balance_of(acme) == (2, 0, 0)
        assert Balance.objects.count() == 1

    def test_a_line_that_follows_no_balance_stops_only_its_tenant(self, acme, rival):
        fund(acme, 5)
        with owner.as_owner():
            Balance.objects.filter(tenant=acme).update(sequence=0)

        outcomes = post(entry(acme, CREDIT, 1), entry(rival, CREDIT, 2))

        assert errors(outcomes) == [IntegrityError, None]
        assert "sequence is taken" in str(outcomes[0].error)
        assert (balance_of(acme), balance_of(rival)) == ((5, 0, 0), (2, 0, 0))


class TestRepeats:
    def test_of_an_earlier_posting_are_that_posting(self, acme, rival):
        given = entry(acme, CREDIT, 100)
        (first,) = post(given)

        again, other = post(given, entry(rival, CREDIT, 5), now=NOW + SECOND)

        assert (again.id, again.already_posted, again.created_at) == (first.id, True, NOW)
        assert (other.already_posted, other.available_after) == (False, 5)
        assert (balance_of(acme), balance_of(rival)) == ((100, 0, 0), (5, 0, 0))

    def test_within_a_set_are_posted_once(self, acme):
        given = entry(acme, CREDIT, 100)

        first, again, other = post(given, given, entry(acme, CREDIT, 1))

        assert (again.id, again.already_posted) == (first.id, True)
        assert (first.already_posted, other.available_after) == (False, 101)
        assert statement_of(acme) == [(1, "credit", 100, 100, 0), (2, "credit", 1, 101, 0)]

    def test_with_another_amount_are_refused(self, acme):
        given = entry(acme, CREDIT, 100)

        outcomes = post(given, given._replace(amount=101))

        assert errors(outcomes) == [None, PostingConflict]
        assert balance_of(acme) == (100, 0, 0)

    def test_of_a_lock_whose_money_is_gone_are_repeats(self, acme):
        fund(acme, 100)
        given = entry(acme, LOCK, 100)

        first, again = post(given, given)

        assert (again.id, again.already_posted) == (first.id, True)


@contextmanager
def listening(heard):
    """Notes what is announced, as (signal, tenant, available, source type, now)."""
    with ExitStack() as stack:
        for name, signal in (("fell", available_balance_fell), ("rose", available_balance_rose)):

            def listen(sender, signal, tenant_id, available, source_type, now, name=name):
                heard.append((name, tenant_id, available, source_type, now))

            signal.connect(listen)
            stack.callback(signal.disconnect, listen)
        yield


class TestAnnouncements:
    def test_are_made_for_each_posting_when_all_are_made(self, acme, rival):
        fund(acme, 100)
        ledger.set_notify_below(tenant_id=acme.pk, amount=50)
        ledger.set_notify_rise(tenant_id=rival.pk, wanted=True)
        given = [entry(acme, LOCK, 51), entry(rival, CREDIT, 5), entry(acme, DEBIT, 1)]
        balances = []

        def look(sender, **_news):
            balances.append((balance_of(acme), balance_of(rival)))

        available_balance_fell.connect(look)
        heard: list[Any] = []
        with listening(heard):
            post(*given)
            post(*given)
        available_balance_fell.disconnect(look)

        assert heard == [
            ("fell", acme.pk, 49, "payment", NOW),
            ("rose", rival.pk, 5, "payment", NOW),
            ("fell", acme.pk, 48, "payment", NOW),
        ]
        assert balances == [((48, 0, 51), (5, 0, 0))] * 2


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
        with listening(heard):
            outcomes = twins.post_in_sets(entries, now)
            expected = [twins.post_alone(each, now) for each in entries]
        assert [told(each) for each in outcomes] == [told(each) for each in expected]
        assert not is_rich or errors(outcomes) == [None] * size
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
@settings(max_examples=60, deadline=None, phases=PHASES)
@given(seed=st.integers(0, 2**32))
def test_many_sets_do_what_their_entries_would_do_alone(size, seed):
    live_twice(seed, size)
