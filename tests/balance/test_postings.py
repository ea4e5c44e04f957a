from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from balance import services as ledger
from balance.errors import (
    BalanceOutOfRange,
    InsufficientBalance,
    PostingConflict,
)
from balance.models import Balance, BalanceTransaction
from common.money import AMOUNT_MAX
from tests.balance.builders import balance_of, fund, movement, round_trips, statement_of
from tests.builders import NOW
from tests.database import owner


class TestWorkedExamples:
    def test_a_top_up_that_completes_turns_pending_into_available(self, acme):
        ledger.change_pending(tenant_id=acme.pk, delta=25_000)

        posting = fund(acme, 25_000, pending_delta=-25_000)

        assert balance_of(acme) == (25_000, 0, 0)
        assert statement_of(acme) == [(1, "credit", 25_000, 25_000, 0)]
        assert (posting.sequence, posting.available_after, posting.pending_after) == (1, 25_000, 0)

    def test_a_late_return_takes_the_money_back_even_when_it_is_spent(self, acme):
        fund(acme, 500)
        ledger.lock(**movement(acme, 400))

        posting = ledger.debit(**movement(acme, 500))

        assert (posting.available_delta, posting.locked_delta) == (-500, 0)
        assert balance_of(acme) == (-400, 0, 400)

    def test_a_payment_locks_and_then_settles(self, acme):
        fund(acme, 1_000)
        payment = movement(acme, 300)

        ledger.lock(**payment)
        ledger.settle(**payment)

        assert balance_of(acme) == (700, 0, 0)
        assert statement_of(acme) == [
            (1, "credit", 1_000, 1_000, 0),
            (2, "lock", 300, 700, 300),
            (3, "settlement", 300, 700, 0),
        ]

    def test_a_failed_payment_gives_its_money_back(self, acme):
        fund(acme, 1_000)
        payment = movement(acme, 300)

        ledger.lock(**payment)
        posting = ledger.unlock(**payment)

        assert (posting.available_delta, posting.locked_delta) == (300, -300)
        assert balance_of(acme) == (1_000, 0, 0)

    def test_everything_available_may_be_locked(self, acme):
        fund(acme, 1_000)

        ledger.lock(**movement(acme, 1_000))

        assert balance_of(acme) == (0, 0, 1_000)

    def test_a_posting_says_all_that_was_written(self, acme):
        posting = fund(acme, 123, description="Top-up")

        row = BalanceTransaction.objects.get(pk=posting.id)
        assert (row.sequence, row.type, row.amount) == (1, "credit", 123)
        assert (row.available_delta, row.locked_delta) == (123, 0)
        assert (row.currency, row.description) == ("USD", "Top-up")
        assert row.created_at == posting.created_at == NOW
        assert posting.already_posted is False

    def test_time_never_goes_back_along_the_statement(self, acme):
        fund(acme, 1, now=NOW)

        posting = fund(acme, 1, now=NOW - timedelta(seconds=5))

        assert posting.created_at == NOW

    def test_tenants_do_not_touch_each_other(self, acme, rival):
        fund(acme, 100)
        fund(rival, 7)

        assert statement_of(acme) == [(1, "credit", 100, 100, 0)]
        assert statement_of(rival) == [(1, "credit", 7, 7, 0)]


class TestRoundTrips:
    def test_a_posting_inside_a_transaction_is_one(self, acme):
        fund(acme, 1)

        with round_trips() as trips:
            fund(acme, 1)

        assert trips.count == 1

    @pytest.mark.django_db(transaction=True)
    def test_a_posting_of_its_own_is_one_from_its_second_time_on(self, acme):
        fund(acme, 1)

        with round_trips() as trips:
            fund(acme, 40_000)
            fund(acme, 4_000_000_000)

        assert trips.count == 2


class TestRefusals:
    def test_a_lock_of_more_than_is_available_writes_nothing(self, acme):
        fund(acme, 1_000)

        with pytest.raises(InsufficientBalance) as refusal:
            ledger.lock(**movement(acme, 1_001))

        assert refusal.value.extra == {"available_balance": 1_000, "shortfall": 1}
        assert refusal.value.detail == "$10.01 is $0.01 more than is available."
        assert balance_of(acme) == (1_000, 0, 0)
        assert len(statement_of(acme)) == 1

    def test_nothing_can_be_locked_while_available_is_negative(self, acme):
        ledger.debit(**movement(acme, 50))

        with pytest.raises(InsufficientBalance) as refusal:
            ledger.lock(**movement(acme, 1))

        assert refusal.value.extra == {"available_balance": -50, "shortfall": 51}

    def test_a_line_that_follows_no_balance_stops_postings_and_breaks_no_transaction(self, acme):
        fund(acme, 5)
        with owner.as_owner():
            Balance.objects.filter(tenant=acme).update(sequence=0)

        with transaction.atomic():
            with pytest.raises(IntegrityError, match="sequence is taken"):
                fund(acme, 1)
            assert balance_of(acme) == (5, 0, 0)

        assert statement_of(acme) == [(1, "credit", 5, 5, 0)]

    def test_a_refused_lock_leaves_the_transaction_around_it_usable(self, acme):
        with transaction.atomic():
            with pytest.raises(InsufficientBalance):
                ledger.lock(**movement(acme, 1))
            fund(acme, 5)

        assert balance_of(acme) == (5, 0, 0)

    @pytest.mark.parametrize("amount", [0, -1, AMOUNT_MAX + 1, 1.0, True, None])
    def test_an_impossible_amount_is_a_bug_and_writes_nothing(self, acme, amount):
        with pytest.raises(ValueError, match="is not an amount"):
            fund(acme, amount)

        assert not Balance.objects.filter(tenant=acme).exists()

    @pytest.mark.parametrize("move", [ledger.unlock, ledger.settle])
    def test_more_than_is_locked_cannot_be_unlocked_or_settled(self, acme, move):
        fund(acme, 1_000)
        ledger.lock(**movement(acme, 100))

        with pytest.raises(IntegrityError), transaction.atomic():
            move(**movement(acme, 101))

        assert balance_of(acme) == (900, 0, 100)
        assert len(statement_of(acme)) == 2

    def test_pending_cannot_fall_below_zero(self, acme):
        ledger.change_pending(tenant_id=acme.pk, delta=10)

        with pytest.raises(IntegrityError), transaction.atomic():
            fund(acme, 11, pending_delta=-11)

        assert balance_of(acme) == (0, 10, 0)
        assert statement_of(acme) == []

    @pytest.mark.parametrize("move", [ledger.credit, ledger.debit])
    def test_a_balance_stays_in_its_range(self, acme, move):
        move(**movement(acme, AMOUNT_MAX))

        with pytest.raises(BalanceOutOfRange), transaction.atomic():
            move(**movement(acme, 1))

        assert len(statement_of(acme)) == 1

    @pytest.mark.django_db(transaction=True)
    def test_an_unknown_tenant_has_no_balance(self, acme):
        acme.pk = "ten_00000000000000000000000000"

        with pytest.raises(IntegrityError):
            fund(acme, 1)

        assert not Balance.objects.exists()


class TestRepeats:
    def test_a_repeat_of_what_is_no_longer_on_its_way_is_one(self, acme):
        ledger.change_pending(tenant_id=acme.pk, delta=100)
        order = movement(acme, 100, pending_delta=-100)
        ledger.credit(**order)

        assert ledger.credit(**order).already_posted is True
        with pytest.raises(PostingConflict):
            ledger.credit(**order | {"amount": 101})
        assert balance_of(acme) == (100, 0, 0)

    def test_money_that_is_not_on_its_way_does_not_arrive(self, acme):
        with pytest.raises(IntegrityError, match="not on their way"):
            ledger.credit(**movement(acme, 100, pending_delta=-100))

        assert balance_of(acme) == (0, 0, 0)

    def test_a_repeat_changes_nothing_and_returns_the_first_posting(self, acme):
        ledger.change_pending(tenant_id=acme.pk, delta=900)
        order = movement(acme, 100, pending_delta=-100)
        first = ledger.credit(**order)
        fund(acme, 5)

        again = ledger.credit(**order | {"now": NOW + timedelta(days=1)})

        assert again.already_posted is True
        assert (again.id, again.sequence, again.amount) == (first.id, 1, 100)
        assert (again.available_after, again.locked_after) == (100, 0)
        assert (again.pending_after, again.created_at) == (800, NOW)
        assert balance_of(acme) == (105, 800, 0)
        assert len(statement_of(acme)) == 2

    def test_a_repeat_of_a_lock_succeeds_although_the_money_is_gone(self, acme):
        fund(acme, 100)
        order = movement(acme, 100)
        first = ledger.lock(**order)

        assert ledger.lock(**order).id == first.id

    @pytest.mark.parametrize("release", [ledger.unlock, ledger.settle])
    def test_a_repeat_of_a_release_succeeds_although_nothing_is_locked(self, acme, release):
        fund(acme, 100)
        order = movement(acme, 100)
        ledger.lock(**order)
        first = release(**order)

        assert release(**order).id == first.id

    @pytest.mark.parametrize("release", [ledger.unlock, ledger.settle])
    def test_a_release_of_more_than_is_locked_is_a_bug_and_leaves_all_usable(self, acme, release):
        fund(acme, 100)
        ledger.lock(**movement(acme, 40))

        with transaction.atomic():
            with pytest.raises(IntegrityError, match="41 cents are not locked"):
                release(**movement(acme, 41))
            fund(acme, 1)

        assert balance_of(acme) == (61, 0, 40)

    def test_a_repeat_inside_a_transaction_leaves_it_usable(self, acme):
        order = movement(acme, 100)

        with transaction.atomic():
            ledger.credit(**order)
            assert ledger.credit(**order).already_posted
            fund(acme, 1)

        assert balance_of(acme) == (101, 0, 0)

    def test_another_amount_for_the_same_cause_is_refused(self, acme):
        order = movement(acme, 100)
        ledger.credit(**order)

        with pytest.raises(PostingConflict, match="100 cents, not 101"):
            ledger.credit(**order | {"amount": 101})

        assert balance_of(acme) == (100, 0, 0)

    def test_another_type_of_the_same_cause_is_another_movement(self, acme):
        order = movement(acme, 100)

        ledger.credit(**order)
        ledger.debit(**order)

        assert [row[1] for row in statement_of(acme)] == ["credit", "debit"]

    def test_another_tenant_may_have_the_same_cause(self, acme, rival):
        ledger.credit(**movement(acme, 100, source_id="same"))

        posting = ledger.credit(**movement(rival, 100, source_id="same"))

        assert posting.already_posted is False
