"""Many postings at once on one balance: exactly what is covered happens, exactly once."""

from __future__ import annotations

from collections import Counter
from itertools import count
from threading import Barrier

import pytest
from django.db import connection, transaction

from balance import invariants
from balance import services as ledger
from balance.errors import InsufficientBalance
from balance.models import Balance, LedgerCheckpoint
from common.clock import utc_now
from tests.balance.builders import balance_of, fund, movement, statement_of
from tests.races.together import WAITING_HERE, together

pytestmark = pytest.mark.django_db(transaction=True)


def kinds_of(results):
    return Counter(type(result).__name__ for result in results)


@pytest.mark.parametrize("in_transaction", [False, True])
def test_of_40_locks_of_100_on_500_exactly_5_succeed(acme, in_transaction):
    fund(acme, 500)
    payments = [movement(acme, 100) for _ in range(40)]

    def lock(worker):
        if not in_transaction:
            return ledger.lock(**payments[worker])
        with transaction.atomic():
            return ledger.lock(**payments[worker])

    results = together(lock, workers=40)

    assert kinds_of(results) == {"Posting": 5, "InsufficientBalance": 35}
    assert balance_of(acme) == (0, 0, 500)
    assert [row[0] for row in statement_of(acme)] == [1, 2, 3, 4, 5, 6]
    refusals = [result for result in results if isinstance(result, InsufficientBalance)]
    assert {refusal.extra["available_balance"] for refusal in refusals} == {0}


@pytest.mark.parametrize("in_transaction", [False, True])
def test_the_same_posting_32_times_is_one(acme, in_transaction):
    order = movement(acme, 250)

    def credit(_worker):
        if not in_transaction:
            return ledger.credit(**order)
        with transaction.atomic():
            return ledger.credit(**order)

    results = together(credit, workers=32)

    assert kinds_of(results) == {"Posting": 32}
    assert len({result.id for result in results}) == 1
    assert sum(not result.already_posted for result in results) == 1
    assert statement_of(acme) == [(1, "credit", 250, 250, 0)]
    assert balance_of(acme) == (250, 0, 0)


def test_first_movements_of_a_new_tenant_share_one_balance_row(acme):
    results = together(lambda _: fund(acme, 10), workers=16)

    assert sorted(result.sequence for result in results) == list(range(1, 17))
    assert Balance.objects.get(tenant=acme).available == 160


def test_each_movement_sees_the_one_before_it(acme):
    fund(acme, 1_000)
    payments = [movement(acme, 10) for _ in range(24)]

    def pay(worker):
        ledger.lock(**payments[worker])
        ledger.change_pending(tenant_id=acme.pk, delta=5)
        end = ledger.settle if worker % 2 else ledger.unlock
        return end(**payments[worker])

    results = together(pay, workers=24)

    assert kinds_of(results) == {"Posting": 24}
    assert balance_of(acme) == (1_000 - 120, 120, 0)
    available = locked = 0
    for sequence, row in enumerate(statement_of(acme), start=1):
        signs = {"credit": (1, 0), "lock": (-1, 1), "unlock": (1, -1), "settlement": (0, -1)}
        available += signs[row[1]][0] * row[2]
        locked += signs[row[1]][1] * row[2]
        assert (row[0], row[3], row[4]) == (sequence, available, locked)


def test_a_posting_waits_for_the_one_who_holds_the_row(acme):
    fund(acme, 100)

    def hold_or_lock(worker):
        with transaction.atomic():
            funds = ledger.lock_row(tenant_id=acme.pk)
            if funds.available >= 60:
                return ledger.lock(**movement(acme, 60))
            return None

    results = together(hold_or_lock, workers=8)

    assert kinds_of(results) == {"Posting": 1, "NoneType": 7}
    assert balance_of(acme) == (40, 0, 60)


def test_an_audit_while_money_moves_finds_nothing(acme, rival, ledger_only):
    moving = Barrier(5)

    def move_or_audit(worker):
        moving.wait()
        if worker == 0:
            return [
                invariants.check(now=utc_now(), full=full).findings for full in [False, True] * 5
            ]
        for _ in range(40):
            payment = movement(rival if worker % 2 else acme, 1)
            fund(rival if worker % 2 else acme, 5)
            ledger.lock(**payment)
            ledger.settle(**payment)
        return None

    audits, *_movers = together(move_or_audit, workers=5)

    assert audits == [[]] * 10
    assert invariants.check(now=utc_now()).ok
    assert LedgerCheckpoint.objects.get(tenant=acme).sequence == len(statement_of(acme)) == 240


_ALL_WAITING = f"SELECT count(DISTINCT pid), pg_sleep(0.01) {WAITING_HERE}"


def wait_for_the_others(count):
    """Until so many connections wait for a lock; half a minute at most."""
    with connection.cursor() as cursor:
        for _ in range(3_000):
            cursor.execute(_ALL_WAITING)
            if cursor.fetchone()[0] >= count:
                return
    raise AssertionError(f"there are never {count} who wait")


def test_who_waits_for_the_row_posts_at_the_first_try_when_its_turn_comes(acme):
    """Each holds its posting until all others wait. Without the row's lock they would all find the
    number taken, one try after the other, and the last one would run out of tries."""
    fund(acme, 100)
    crowd, begun, turn = 14, Barrier(14), count()

    def credit(_worker):
        begun.wait()
        with transaction.atomic():
            posted = fund(acme, 10)
            wait_for_the_others(crowd - 1 - next(turn))
            return posted

    results = together(credit, workers=crowd)

    assert kinds_of(results) == {"Posting": crowd}
    assert sorted(result.sequence for result in results) == list(range(2, crowd + 2))
    assert balance_of(acme) == (100 + 10 * crowd, 0, 0)


class MoneyThatComesAndGoes:
    """Another connection: 100 cents arrive after each look at what was posted, and leave after the
    first looks at the balance, so that each look promises what the next try does not find."""

    def __init__(self, tenant, *, leaves):
        self.tenant, self.leaves_left, self.tries = tenant, leaves, 0

    def __call__(self, execute, sql, params, many, context):
        looks_at_balance = sql.startswith("SELECT") and 'FROM "balance"' in sql
        if sql.startswith("SELECT") and 'FROM "balance_transaction"' in sql:
            self.tries += 1
            elsewhere(lambda: fund(self.tenant, 100))
        result = execute(sql, params, many, context)
        if looks_at_balance and self.leaves_left:
            self.leaves_left -= 1
            elsewhere(lambda: ledger.debit(**movement(self.tenant, 100)))
        return result


def elsewhere(act):
    (result,) = together(lambda _: act(), workers=1)
    assert not isinstance(result, Exception), result


def test_a_lock_tries_again_for_as_long_as_money_comes_and_goes(acme):
    fund(acme, 50)
    money = MoneyThatComesAndGoes(acme, leaves=8)

    with connection.execute_wrapper(money):
        posted = ledger.lock(**movement(acme, 120))

    assert (posted.available_after, posted.locked_after, money.tries) == (30, 120, 9)
