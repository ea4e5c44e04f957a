"""Suspense, which two people clear."""

from __future__ import annotations

from functools import partial

import pytest

from balance import services as ledger
from balance.models import Adjustment, OperatorLine
from common.audits import Scope
from reconciliation import booking, clearing, closing, expecting, suspense_rules
from reconciliation.errors import ClearingRefused
from reconciliation.models import BookedLine, ClearingKind, ExpectedLine, Match
from tenants.actors import SYSTEM
from tenants.models import Mode
from tests.builders import make_tenant
from tests.networks.ach.inbound.builders import RAIL
from tests.reconciliation.books import balances, book, match_all
from tests.reconciliation.statements import MONDAY, NOW, OPENING, TUESDAY, bai2_of, of_kinds, take

pytestmark = pytest.mark.django_db
KIND = {True: "credit", False: "debit"}


@pytest.fixture
def suspense(account):
    """Gives lines in suspense, of these amounts."""

    def of(*amounts, day=MONDAY, opening=OPENING):
        take(of_kinds(day, *((KIND[amount > 0], amount) for amount in amounts), opening=opening))
        booking.book_open(RAIL, None, now=NOW)
        return list(BookedLine.objects.order_by("line_id"))

    return of


@pytest.fixture
def live(db):
    return make_tenant(name="Live", mode=Mode.LIVE)


def propose(booked, kind, *, by="ann", **proof):
    return clearing.propose(booked, kind, reason="As the bank says", by=by, now=NOW, **proof)


def clear(booked, kind, **proof):
    return clearing.approve(propose(booked, kind, **proof).pk, by="bo", now=NOW)


def adjust(tenant, amount):
    ledger.adjust(
        tenant_id=tenant.pk,
        type="credit" if amount > 0 else "debit",
        amount=abs(amount),
        reason="Wire",
        actor=SYSTEM,
        now=NOW,
    )
    return Adjustment.objects.latest("created_at", "pk").pk


def found():
    return list(suspense_rules.check(Scope(full=True)))


class TestWhatItWas:
    def test_a_fee(self, suspense):
        (booked,) = suspense(-900)
        row = clear(booked, ClearingKind.FEE)

        assert (row.status, row.decided_by) == ("approved", "bo")
        assert balances() == {"bank_fees": 900, "suspense": 0, f"settlement:{RAIL}": -900}
        assert found() == []

    def test_income(self, suspense):
        (booked,) = suspense(900)
        clear(booked, ClearingKind.INCOME)

        assert balances() == {"revenue": -900, "suspense": 0, f"settlement:{RAIL}": 900}
        assert found() == []

    def test_undone_by_another_line(self, suspense):
        one, other = suspense(900, -900)
        clear(one, ClearingKind.OFFSET, other=other)

        assert balances()["suspense"] == 0
        assert not clearing.in_suspense(one)
        assert not clearing.in_suspense(other)
        assert found() == []

    @pytest.mark.parametrize("amount", [900, -900])
    def test_a_tenants_by_an_adjustment(self, suspense, live, amount):
        (booked,) = suspense(amount)
        clear(booked, ClearingKind.ADJUSTMENT, adjustment_id=adjust(live, amount))

        assert balances()["suspense"] == 0
        assert found() == []

    @pytest.mark.parametrize("amount", [900, -900])
    def test_a_transfer_that_the_books_learned_of_later(self, suspense, live, amount):
        (booked,) = suspense(amount)
        closing.close(RAIL, now=NOW)
        (transfer,) = book(live, MONDAY, amount)
        expecting.take(RAIL, now=NOW)
        row = clear(booked, ClearingKind.LEDGER, expected_line=transfer)

        match = Match.objects.get(rule="cleared")
        assert (match.amount, match.day, match.made_by) == (0, TUESDAY, "bo")
        cleared = OperatorLine.objects.get(source_type="clearing", source_id=row.pk)
        assert set(match.of_books.values_list("line", "amount")) == {
            (transfer, amount),
            (cleared.pk, -amount),
        }
        assert balances()["suspense"] == 0
        assert balances()[f"settlement:{RAIL}"] == amount
        assert found() == []
        take(bai2_of(TUESDAY, opening=OPENING + amount))
        assert closing.close(RAIL, now=NOW).in_transit == 0


class TestTwoPeople:
    def test_are_two(self, suspense):
        (booked,) = suspense(-900)
        row = propose(booked, ClearingKind.FEE)

        with pytest.raises(ClearingRefused, match="somebody else"):
            clearing.approve(row.pk, by="ann", now=NOW)
        assert balances()["suspense"] == 900

    def test_decide_once(self, suspense):
        (booked,) = suspense(-900)
        row = clear(booked, ClearingKind.FEE)

        with pytest.raises(ClearingRefused, match="decided"):
            clearing.approve(row.pk, by="cy", now=NOW)
        assert OperatorLine.objects.filter(source_type="clearing").count() == 1

    def test_may_reject(self, suspense):
        (booked,) = suspense(-900)
        row = propose(booked, ClearingKind.FEE)
        clearing.reject(row.pk, refusal="It is a wire", by="bo", now=NOW)

        assert clearing.in_suspense(booked)
        assert balances()["suspense"] == 900
        assert found() == []
        clear(booked, ClearingKind.FEE)

    def test_of_something_that_is_there(self, suspense):
        with pytest.raises(ClearingRefused, match="no such"):
            clearing.approve("clr_\0", by="bo", now=NOW)


class TestWhatIsRefused:
    def test_what_the_amount_contradicts(self, suspense):
        came, left = suspense(900, -900)

        with pytest.raises(ClearingRefused, match="no fee"):
            propose(came, ClearingKind.FEE)
        with pytest.raises(ClearingRefused, match="no income"):
            propose(left, ClearingKind.INCOME)

    def test_two_lines_that_do_not_come_to_zero(self, suspense):
        one, other = suspense(900, -901)

        with pytest.raises(ClearingRefused, match="zero"):
            propose(one, ClearingKind.OFFSET, other=other)
        with pytest.raises(ClearingRefused, match="other line"):
            propose(one, ClearingKind.OFFSET, other=one)

    def test_a_line_that_is_cleared_or_waits(self, suspense):
        one, other = suspense(900, -900)
        propose(one, ClearingKind.OFFSET, other=other)

        for row, kind in ((one, ClearingKind.INCOME), (other, ClearingKind.FEE)):
            with pytest.raises(ClearingRefused, match="proposed"):
                propose(row, kind)

    def test_a_fee_that_is_not_in_suspense(self, account):
        take(of_kinds(MONDAY, ("fee", -250)))
        booking.book_open(RAIL, None, now=NOW)

        with pytest.raises(ClearingRefused, match="not in suspense"):
            propose(BookedLine.objects.get(), ClearingKind.FEE)

    def test_an_adjustment_that_does_not_fit(self, suspense, live, acme):
        first, second = suspense(900, 901)
        fits = adjust(live, 900)
        refused = partial(pytest.raises, ClearingRefused)

        with refused(match="other direction"):
            propose(first, ClearingKind.ADJUSTMENT, adjustment_id=adjust(live, -900))
        with refused(match="amount"):
            propose(second, ClearingKind.ADJUSTMENT, adjustment_id=fits)
        with refused(match="no such"):
            propose(first, ClearingKind.ADJUSTMENT, adjustment_id="adj_\0")
        with refused(match="live"):
            propose(first, ClearingKind.ADJUSTMENT, adjustment_id=adjust(acme, 900))

    def test_an_adjustment_that_explains_another_line(self, suspense, live):
        first, second = suspense(900, 900)
        given = adjust(live, 900)
        clear(first, ClearingKind.ADJUSTMENT, adjustment_id=given)

        with pytest.raises(ClearingRefused, match="another line"):
            propose(second, ClearingKind.ADJUSTMENT, adjustment_id=given)

    def test_a_transfer_that_does_not_fit(self, suspense, live):
        first, second = suspense(900, 900)
        wrong, other = book(live, MONDAY, 901, 900)
        expecting.take(RAIL, now=NOW)
        own = ExpectedLine.objects.filter(step="suspense_credited").values_list("line", flat=True)[
            0
        ]

        for line, words in ((wrong, "amount"), (own, "no such"), (0, "no such")):
            with pytest.raises(ClearingRefused, match=words):
                propose(first, ClearingKind.LEDGER, expected_line=line)
        clear(first, ClearingKind.LEDGER, expected_line=other)
        with pytest.raises(ClearingRefused, match="another line"):
            propose(second, ClearingKind.LEDGER, expected_line=other)

    def test_what_held_no_more_once_it_was_approved(self, suspense, live):
        """The bank shows the transfer by a line of its own meanwhile."""
        (booked,) = suspense(900)
        (transfer,) = book(live, MONDAY, 900)
        expecting.take(RAIL, now=NOW)
        row = propose(booked, ClearingKind.LEDGER, expected_line=transfer)
        take(bai2_of(TUESDAY, 900, opening=OPENING + 900))
        match_all(TUESDAY)

        with pytest.raises(ClearingRefused, match="another line"):
            clearing.approve(row.pk, by="bo", now=NOW)
        assert balances()["suspense"] == -900
