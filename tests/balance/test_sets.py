"""Postings in sets: each entry gets what it would get alone, in the order given."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from balance import services as ledger
from balance.errors import BalanceOutOfRange, InsufficientBalance, PostingConflict
from balance.kinds import PostingType
from balance.models import Balance, BalanceTransaction
from balance.sets import Refused
from balance.signals import available_balance_fell
from common.money import AMOUNT_MAX
from tests.balance.builders import (
    announced_to,
    balance_of,
    entry,
    fund,
    movement,
    round_trips,
    statement_of,
)
from tests.builders import NOW
from tests.database import owner

CREDIT, DEBIT, LOCK = PostingType.CREDIT, PostingType.DEBIT, PostingType.LOCK
SETTLEMENT = PostingType.SETTLEMENT
SECOND = timedelta(seconds=1)


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
        with announced_to(heard):
            post(*given)
            post(*given)
        available_balance_fell.disconnect(look)

        assert heard == [
            ("fell", acme.pk, 49, "payment", NOW),
            ("rose", rival.pk, 5, "payment", NOW),
            ("fell", acme.pk, 48, "payment", NOW),
        ]
        assert balances == [((48, 0, 51), (5, 0, 0))] * 2
