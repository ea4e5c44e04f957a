"""Sets of postings at one moment, with tenants in common: nobody waits in a circle, and the books
say what was posted."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from django.db import transaction

from balance import invariants, posting, sets
from balance import services as ledger
from balance.errors import InsufficientBalance
from balance.kinds import PostingType
from balance.models import Balance, BalanceTransaction
from balance.posting import Posting
from balance.sets import Refused
from tests.balance.builders import balance_of, entry, fund, movement, statement_of
from tests.builders import NOW, make_tenant
from tests.races.together import rounds, together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_only")]

CREDIT, LOCK = PostingType.CREDIT, PostingType.LOCK


@pytest.fixture
def tenants(db):
    return [make_tenant() for _ in range(5)]


def require_sound_books():
    assert invariants.check(now=NOW, full=True).findings == []


def shuffled(entries, seed):
    entries = list(entries)
    Random(seed).shuffle(entries)
    return entries


@rounds(10, quick=2)
@pytest.mark.parametrize("in_transaction", [False, True])
@pytest.mark.parametrize("is_new", [False, True])
def test_sets_of_the_same_tenants_in_another_order_wait_for_no_circle(
    tenants, in_transaction, is_new, round_
):
    """Also where the sets open the balances."""
    if not is_new:
        for tenant in tenants:
            fund(tenant, 1)
    given = [
        shuffled([entry(tenant, CREDIT, 10) for tenant in tenants * 4], f"{round_} {worker}")
        for worker in range(8)
    ]

    def post(worker):
        if not in_transaction:
            return ledger.post_many(given[worker], now=NOW)
        with transaction.atomic():
            return ledger.post_many(given[worker], now=NOW)

    results = together(post, workers=8)

    for outcomes in results:
        assert Counter(map(type, outcomes)) == {Posting: 20}
    for tenant in tenants:
        assert balance_of(tenant)[0] == 8 * 4 * 10 + (not is_new)
        assert len(statement_of(tenant)) == 8 * 4 + (not is_new)
    require_sound_books()


@rounds(10, quick=2)
def test_sets_and_single_postings_post_side_by_side(tenants, round_):
    for tenant in tenants:
        fund(tenant, 1_000)
    dice = Random(round_)

    def post(worker):
        if worker % 2:
            for _ in range(20):
                payment = movement(tenants[dice.randrange(5)], 3)
                with transaction.atomic():
                    ledger.lock(**payment)
                ledger.settle(**payment)
        else:
            for turn in range(5):
                crowd = shuffled(tenants * 3, f"{worker} {turn}")
                outcomes = ledger.post_many([entry(each, CREDIT, 2) for each in crowd], now=NOW)
                assert Counter(map(type, outcomes)) == {Posting: 15}

    results = together(post, workers=8)

    assert results == [None] * 8
    assert sum(balance_of(each)[0] for each in tenants) == 5_000 + 4 * 5 * 15 * 2 - 4 * 20 * 3
    require_sound_books()


@rounds(10, quick=2)
def test_the_same_set_by_many_is_posted_once(tenants, round_):
    given = [entry(tenant, CREDIT, 10) for tenant in tenants * 4]
    orders = [shuffled(given, f"{round_} {worker}") for worker in range(8)]

    results = together(lambda worker: ledger.post_many(orders[worker], now=NOW), workers=8)

    made = [outcome for outcomes in results for outcome in outcomes]
    assert Counter(outcome.already_posted for outcome in made) == {False: 20, True: 140}
    assert len({outcome.id for outcome in made}) == 20
    assert BalanceTransaction.objects.count() == 20
    assert {balance_of(tenant) for tenant in tenants} == {(40, 0, 0)}
    require_sound_books()


@rounds(10, quick=2)
def test_of_sets_that_lock_more_than_there_is_exactly_what_is_covered_is_locked(
    acme, rival, round_
):
    fund(acme, 500)
    fund(rival, 100)
    given = [
        shuffled([entry(acme, LOCK, 100), entry(rival, CREDIT, 1)], f"{round_} {worker}")
        for worker in range(12)
    ]

    results = together(lambda worker: ledger.post_many(given[worker], now=NOW), workers=12)

    made = [outcome for outcomes in results for outcome in outcomes]
    errors = [outcome.error for outcome in made if isinstance(outcome, Refused)]
    refusals = [error for error in errors if isinstance(error, InsufficientBalance)]
    assert len(errors) == len(refusals) == 7
    assert {refusal.extra["available_balance"] for refusal in refusals} == {0}
    assert (balance_of(acme), balance_of(rival)) == ((0, 0, 500), (112, 0, 0))
    require_sound_books()


def test_a_set_with_a_repeat_holds_all_its_balances_while_it_goes_line_by_line(acme, rival):
    """Two sets with a repeat each, posted again and again in two orders of the tenants."""
    repeat = entry(acme, CREDIT, 5)
    ledger.post_many([repeat, entry(rival, CREDIT, 5)], now=NOW)

    def post(worker):
        for _ in range(30):
            others = [entry(tenant, CREDIT, 1) for tenant in [rival, acme][:: (-1) ** worker]]
            outcomes = ledger.post_many([repeat, *others], now=NOW)
            posted = [each for each in outcomes if isinstance(each, Posting)]
            assert [each.already_posted for each in posted] == [True, False, False]

    assert together(post, workers=6) == [None] * 6
    assert {each.available for each in Balance.objects.all()} == {185}
    require_sound_books()


def test_a_set_that_has_to_open_a_balance_holds_no_other_meanwhile(acme, rival):
    """Else two sets that open the same balances could wait for each other in a circle."""
    fund(rival, 1)
    given = [
        posting.order_of(CREDIT, "btx_1", each.pk, 1, "payment", "pay_1", "Test", 0)
        for each in (rival, acme)
    ]

    def look(_):
        with transaction.atomic():
            return Balance.objects.select_for_update(nowait=True).get(tenant=rival).available

    with transaction.atomic():
        assert sets._rows(given, [], NOW) == []
        assert together(look, workers=1) == [1]
