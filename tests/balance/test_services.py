from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.db.transaction import TransactionManagementError

from balance import selectors
from balance import services as ledger
from balance.errors import (
    BalanceOutOfRange,
    InvalidAdjustment,
)
from balance.models import Adjustment, Balance, BalanceTransaction
from balance.selectors import Funds
from balance.signals import available_balance_fell, available_balance_rose
from common.money import AMOUNT_MAX
from tenants import actors
from tenants.models import AuditEvent
from tests.balance.builders import balance_of, fund, movement
from tests.builders import NOW

SECOND = timedelta(seconds=1)


@contextmanager
def listening(signal):
    """The arguments of every sending of `signal`."""
    heard = []

    def listen(sender, signal, **values):
        heard.append(values)

    signal.connect(listen)
    yield heard
    signal.disconnect(listen)


@pytest.fixture
def announced():
    with listening(available_balance_fell) as heard:
        yield heard


@pytest.fixture
def rises():
    with listening(available_balance_rose) as heard:
        yield heard


class TestBalanceRow:
    def test_pending_changes_before_anything_was_posted(self, acme):
        funds = ledger.change_pending(tenant_id=acme.pk, delta=300)

        assert funds == Funds(available=0, pending=300, locked=0)
        assert ledger.change_pending(tenant_id=acme.pk, delta=-100).pending == 200

    def test_the_locked_row_shows_the_funds(self, acme):
        fund(acme, 70)
        ledger.set_notify_below(tenant_id=acme.pk, amount=50)

        with transaction.atomic():
            funds = ledger.lock_row(tenant_id=acme.pk)

        assert funds == Funds(available=70, notify_below=50)

    def test_a_row_is_locked_even_before_the_first_movement(self, acme):
        with transaction.atomic():
            assert ledger.lock_row(tenant_id=acme.pk) == Funds()

        assert Balance.objects.filter(tenant=acme).count() == 1

    @pytest.mark.django_db(transaction=True)
    def test_locking_a_row_needs_a_transaction(self, acme):
        with pytest.raises(TransactionManagementError):
            ledger.lock_row(tenant_id=acme.pk)


class TestLowBalances:
    @pytest.fixture
    def low(self, acme):
        fund(acme, 49)
        ledger.set_notify_below(tenant_id=acme.pk, amount=50)
        return acme.pk

    def test_are_below_the_mark_with_what_is_on_its_way(self, low, rival):
        fund(rival, 10)
        assert selectors.low_tenants(now=NOW) == [low]

        ledger.change_pending(tenant_id=low, delta=1)

        assert selectors.low_tenants(now=NOW) == []

    def test_are_left_out_until_the_time_noted(self, low):
        ledger.note_low(tenant_id=low, until=NOW + SECOND)

        assert selectors.low_tenants(now=NOW) == []
        assert selectors.low_tenants(now=NOW + SECOND) == [low]

    def test_are_due_again_when_the_wait_is_over_early(self, low):
        ledger.note_low(tenant_id=low, until=NOW + SECOND)

        ledger.look_at_low_again(low, now=NOW)

        assert selectors.low_tenants(now=NOW) == [low]

    def test_the_end_of_no_wait_changes_nothing(self, acme):
        fund(acme, 1)

        ledger.look_at_low_again(acme.pk, now=NOW)

        assert Balance.objects.get().low_noted_until is None

    def test_have_recovered_when_they_were_noted_and_are_not_low(self, low):
        ledger.note_low(tenant_id=low, until=NOW)
        assert selectors.recovered_tenants() == []

        ledger.change_pending(tenant_id=low, delta=1)
        assert selectors.recovered_tenants() == [low]

        ledger.note_low(tenant_id=low, until=None)
        assert selectors.recovered_tenants() == []


class TestAnnouncements:
    def test_a_posting_that_leaves_less_than_the_threshold_is_announced(self, acme, announced):
        fund(acme, 100)
        ledger.set_notify_below(tenant_id=acme.pk, amount=50)

        ledger.lock(**movement(acme, 51))

        assert announced == [
            {"tenant_id": acme.pk, "available": 49, "source_type": "payment", "now": NOW}
        ]

    def test_exactly_the_threshold_is_enough(self, acme, announced):
        fund(acme, 100)
        ledger.set_notify_below(tenant_id=acme.pk, amount=50)

        ledger.debit(**movement(acme, 50))

        assert announced == []

    def test_every_further_fall_is_announced(self, acme, announced):
        ledger.set_notify_below(tenant_id=acme.pk, amount=0)

        ledger.debit(**movement(acme, 1))
        ledger.debit(**movement(acme, 1))

        assert [item["available"] for item in announced] == [-1, -2]

    def test_rises_settlements_and_repeats_are_not_announced(self, acme, announced):
        fund(acme, 100)
        payment = movement(acme, 100)
        ledger.lock(**payment)
        ledger.set_notify_below(tenant_id=acme.pk, amount=50)

        fund(acme, 10)
        ledger.settle(**payment)
        ledger.lock(**payment)

        assert announced == []

    def test_nothing_is_announced_without_a_threshold(self, acme, announced):
        ledger.set_notify_below(tenant_id=acme.pk, amount=50)
        ledger.set_notify_below(tenant_id=acme.pk, amount=None)

        ledger.debit(**movement(acme, 1))

        assert announced == []


class TestRises:
    def test_credits_and_unlocks_are_announced_to_who_asked(self, acme, rises):
        payment = movement(acme, 40)
        fund(acme, 100)
        ledger.lock(**payment)
        ledger.set_notify_rise(tenant_id=acme.pk, wanted=True)

        ledger.unlock(**payment)
        fund(acme, 5)

        assert [rise["available"] for rise in rises] == [100, 105]
        assert rises[0] == {
            "tenant_id": acme.pk,
            "available": 100,
            "source_type": "payment",
            "now": NOW,
        }

    def test_falls_settlements_and_repeats_are_not(self, acme, rises):
        payment, credit = movement(acme, 40), movement(acme, 100)
        ledger.credit(**credit)
        ledger.set_notify_rise(tenant_id=acme.pk, wanted=True)

        ledger.lock(**payment)
        ledger.settle(**payment)
        ledger.debit(**movement(acme, 1))
        ledger.credit(**credit)

        assert rises == []

    def test_nobody_is_told_who_did_not_ask_or_no_longer_does(self, acme, rises):
        fund(acme, 1)
        ledger.set_notify_rise(tenant_id=acme.pk, wanted=True)
        ledger.set_notify_rise(tenant_id=acme.pk, wanted=False)

        fund(acme, 1)

        assert rises == []


class TestAdjustments:
    def adjust(self, tenant, **changes):
        defaults: dict[str, Any] = {
            "type": "credit",
            "amount": 500,
            "reason": "Goodwill",
            "now": NOW,
        }
        actor = actors.staff("usr_1")
        return ledger.adjust(tenant_id=tenant.pk, actor=actor, **defaults | changes)

    def test_an_adjustment_is_posted_recorded_and_audited(self, acme):
        posting = self.adjust(acme)

        adjustment = Adjustment.objects.get(tenant=acme)
        assert (adjustment.type, adjustment.amount) == ("credit", 500)
        assert adjustment.reason == "Goodwill"
        assert (adjustment.actor_type, adjustment.actor_id) == ("staff", "usr_1")
        row = BalanceTransaction.objects.get(pk=posting.id)
        assert (row.source_type, row.source_id) == ("adjustment", adjustment.pk)
        assert row.description == "Goodwill"
        event = AuditEvent.objects.get(action="balance.credit")
        assert (event.subject_id, event.details["amount"]) == (adjustment.pk, 500)

    def test_a_debit_may_leave_the_balance_short(self, acme):
        self.adjust(acme, type="debit")

        assert balance_of(acme) == (-500, 0, 0)

    def test_a_refused_adjustment_leaves_no_trace(self, acme):
        self.adjust(acme, amount=AMOUNT_MAX)

        with pytest.raises(BalanceOutOfRange):
            self.adjust(acme)

        assert Adjustment.objects.count() == 1
        assert AuditEvent.objects.filter(action="balance.credit").count() == 1

    @pytest.mark.parametrize(
        "wrong",
        [
            {"reason": ""},
            {"reason": " \t"},
            {"reason": "x" * 201},
            {"amount": 0},
            {"amount": AMOUNT_MAX + 1},
        ],
    )
    def test_an_adjustment_needs_a_reason_and_an_amount(self, acme, wrong):
        with pytest.raises(InvalidAdjustment):
            self.adjust(acme, **wrong)

        assert Adjustment.objects.count() == 0
