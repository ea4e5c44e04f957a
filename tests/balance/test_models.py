"""What the database refuses, whoever asks: the last line of defence."""

from __future__ import annotations

import psycopg
import pytest
from django.apps import apps
from django.db import DatabaseError, IntegrityError, connection, transaction

from balance import services as ledger
from balance.models import Adjustment, Balance, BalanceTransaction, JournalLeg, LedgerCheck
from common.money import AMOUNT_MAX
from tests.balance.builders import balance_of, fund, movement, statement_of
from tests.builders import NOW
from tests.database import owner

ROW = {
    "sequence": 1,
    "type": "credit",
    "amount": 100,
    "available_delta": 100,
    "locked_delta": 0,
    "available_after": 100,
    "locked_after": 0,
    "source_type": "payment",
    "source_id": "pay_1",
    "description": "Test",
    "created_at": NOW,
}
ADJUSTMENT = {
    "type": "credit",
    "amount": 1,
    "reason": "Goodwill",
    "actor_type": "staff",
    "created_at": NOW,
}
LOCK = {"type": "lock", "available_delta": -100, "locked_delta": 100, "locked_after": 100}


def refused_by(act):
    """The name of the constraint or the trigger's words that refuse `act`, even to the owner."""
    with owner.as_owner(), pytest.raises(DatabaseError) as refusal, transaction.atomic():
        act()
    cause = refusal.value.__cause__
    assert isinstance(cause, psycopg.Error)
    return cause.diag.constraint_name or cause.diag.message_primary


def updates():
    """How many rows of `balance` this transaction updated, and how many of them in place."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables"
            " WHERE relname = 'balance'"
        )
        return cursor.fetchone()


class TestBalance:
    def test_is_updated_in_place_unless_the_mark_is_crossed(self, acme):
        """HOT: an update that changes no indexed value writes no index."""
        fund(acme, 10_000)
        ledger.set_notify_below(tenant_id=acme.pk, amount=5_000)
        before = updates()

        for _ in range(4):
            ledger.debit(**movement(acme, 1_000))
        ledger.change_pending(tenant_id=acme.pk, delta=500)
        assert updates() == (before[0] + 5, before[1] + 5)

        ledger.debit(**movement(acme, 2_000))
        assert updates() == (before[0] + 6, before[1] + 5)
        ledger.debit(**movement(acme, 2_000))
        assert updates() == (before[0] + 7, before[1] + 6)

    @pytest.mark.parametrize(
        ("column", "value", "constraint"),
        [
            ("available", AMOUNT_MAX + 1, "balance_available_in_range"),
            ("available", -AMOUNT_MAX - 1, "balance_available_in_range"),
            ("pending", -1, "balance_pending_in_range"),
            ("pending", AMOUNT_MAX + 1, "balance_pending_in_range"),
            ("locked", -1, "balance_locked_in_range"),
            ("locked", AMOUNT_MAX + 1, "balance_locked_in_range"),
            ("currency", "EUR", "balance_in_one_currency"),
        ],
    )
    def test_refuses_amounts_out_of_range(self, acme, column, value, constraint):
        fund(acme, 1)

        change = Balance.objects.filter(tenant=acme).update

        assert refused_by(lambda: change(**{column: value})) == constraint

    def test_a_tenant_has_one(self, acme):
        fund(acme, 1)

        assert refused_by(lambda: Balance.objects.create(tenant=acme)) == "one_balance_per_tenant"

    def test_updates_stay_on_their_page(self, acme):
        with connection.cursor() as cursor:
            cursor.execute("SELECT reloptions FROM pg_class WHERE oid = 'balance'::regclass")
            assert "fillfactor=25" in cursor.fetchone()[0]
            cursor.execute(
                "SELECT count(*) FROM pg_index, unnest(indkey) AS key"
                " JOIN pg_attribute ON attrelid = 'balance'::regclass AND attnum = key"
                " WHERE indrelid = 'balance'::regclass"
                " AND attname NOT IN ('id', 'tenant_id', 'currency', 'is_low', 'low_noted_until')"
            )
            assert cursor.fetchone() == (0,)


class TestBalanceTransaction:
    @pytest.mark.parametrize(
        ("changes", "constraint"),
        [
            ({"amount": 0, "available_delta": 0}, "balance_transaction_is_sound"),
            ({"amount": -1, "available_delta": -1}, "balance_transaction_is_sound"),
            ({"locked_after": -1}, "balance_transaction_is_sound"),
            ({"available_delta": 99}, "balance_transaction_is_sound"),
            ({"available_delta": -100}, "balance_transaction_is_sound"),
            ({"locked_delta": 100}, "balance_transaction_is_sound"),
            ({"type": "debit"}, "balance_transaction_is_sound"),
            ({"type": "unlock"}, "balance_transaction_is_sound"),
            ({"type": "settlement"}, "balance_transaction_is_sound"),
            ({"type": "gift"}, "balance_transaction_is_sound"),
            (LOCK | {"locked_delta": 0}, "balance_transaction_is_sound"),
            (LOCK | {"available_after": -1}, "balance_transaction_is_sound"),
        ],
    )
    def test_refuses_rows_that_make_no_sense(self, acme, changes, constraint):
        def insert():
            BalanceTransaction.objects.create(tenant=acme, **ROW | changes)

        assert refused_by(insert) == constraint

    @pytest.mark.parametrize(
        ("type", "available", "locked"),
        [
            ("credit", 100, 0),
            ("debit", -100, 0),
            ("lock", -100, 100),
            ("unlock", 100, -100),
            ("settlement", 0, -100),
        ],
    )
    def test_takes_each_type_with_its_deltas(self, acme, type, available, locked):
        deltas = {"available_delta": available, "locked_delta": locked}

        with owner.as_owner():
            BalanceTransaction.objects.create(tenant=acme, **ROW | deltas | {"type": type})

        assert [row[1] for row in statement_of(acme)] == [type]

    @pytest.mark.parametrize(
        ("changes", "constraint"),
        [
            ({"source_id": "pay_2"}, "pkey"),
            ({"sequence": 2}, "_once_by_source_id"),
            ({"sequence": 2, "source_id": "pay_2", "id": "btx_1"}, "id_tenant_id_key"),
        ],
    )
    def test_refuses_a_second_row_with_the_same_number_cause_or_id(self, acme, changes, constraint):
        with owner.as_owner():
            BalanceTransaction.objects.create(tenant=acme, **ROW | {"id": "btx_1"})

        def insert():
            BalanceTransaction.objects.create(tenant=acme, **ROW | changes)

        assert refused_by(insert).endswith(constraint)

    def test_refuses_a_tenant_that_does_not_exist(self, db):
        def insert():
            BalanceTransaction.objects.create(tenant_id="ten_none", **ROW)

        assert refused_by(insert).startswith("balance_transaction_tenant")

    @pytest.mark.parametrize(
        "act",
        [
            lambda rows: rows.update(description="Changed"),
            lambda rows: rows._raw_delete(rows.db),
        ],
        ids=["update", "delete"],
    )
    def test_rows_are_never_changed_or_deleted(self, acme, act):
        fund(acme, 100)
        rows = BalanceTransaction.objects.filter(tenant=acme)

        assert "Cannot update or delete" in refused_by(lambda: act(rows))
        assert statement_of(acme) == [(1, "credit", 100, 100, 0)]

    def test_every_declared_constraint_and_index_is_in_the_database(self, db):
        with connection.cursor() as cursor:
            cursor.execute("SELECT conname FROM pg_constraint UNION SELECT relname FROM pg_class")
            there = {name for (name,) in cursor.fetchall()}

        for model in apps.get_app_config("balance").get_models():
            declared = [*model._meta.constraints, *model._meta.indexes]
            assert {item.name for item in declared} - there == set(), model

    def test_is_partitioned_by_tenant(self, db):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_get_partkeydef('balance_transaction'::regclass), count(*)"
                " FROM pg_inherits WHERE inhparent = 'balance_transaction'::regclass"
            )
            assert cursor.fetchone() == ("HASH (tenant_id)", 16)


class TestAdjustment:
    @pytest.mark.parametrize(
        ("changes", "constraint"),
        [
            ({"amount": 0}, "adjustment_amount_positive"),
            ({"type": "lock"}, "adjustment_type_known"),
            ({"reason": ""}, "adjustment_has_a_reason"),
        ],
    )
    def test_refuses_what_no_adjustment_is(self, acme, changes, constraint):
        def insert():
            Adjustment.objects.create(tenant=acme, **ADJUSTMENT | changes)

        assert refused_by(insert) == constraint

    def test_is_never_changed(self, acme):
        Adjustment.objects.create(tenant=acme, **ADJUSTMENT)

        act = Adjustment.objects.filter(tenant=acme).update

        assert "Cannot update or delete" in refused_by(lambda: act(amount=2))


class TestLedgerCheck:
    def test_a_finished_check_has_a_verdict(self, db):
        with pytest.raises(IntegrityError), transaction.atomic():
            LedgerCheck.objects.create(started_at=NOW, finished_at=NOW, is_full=False)


def test_names_say_what_a_row_is(acme):
    fund(acme, 5)

    assert str(Balance.objects.get()) == f"balance of {acme.name}"
    row = BalanceTransaction.objects.get()
    assert str(row) == "Credit of $0.05, Nov 20, 2026, 10:00 AM EST"
    assert {str(leg) for leg in JournalLeg.objects.all()} == {f"{row.pk}:debit", f"{row.pk}:credit"}
    assert balance_of(acme) == (5, 0, 0)
